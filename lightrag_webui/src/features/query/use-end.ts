import { useCallback, useEffect, useRef, useState, type RefObject } from 'react'

const NEAR = 96

/** Keeps the end of what grows in sight, until somebody scrolls away from it. */
export function useEnd(box: RefObject<HTMLElement | null>, content: RefObject<HTMLElement | null>): { atEnd: boolean; toEnd: () => void } {
  const [atEnd, setAtEnd] = useState(true)
  const follows = useRef(true)

  const toEnd = useCallback(() => {
    follows.current = true
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [box])

  useEffect(() => {
    const [outer, inner] = [box.current, content.current]
    if (!outer || !inner || typeof ResizeObserver === 'undefined') return
    let last = outer.scrollTop
    const onScroll = () => {
      const near = outer.scrollHeight - outer.scrollTop - outer.clientHeight < NEAR
      // Only a move upwards lets go: what grows below moves nothing, but is further away from the end for a moment.
      if (near) follows.current = true
      else if (outer.scrollTop < last) follows.current = false
      last = outer.scrollTop
      setAtEnd(near)
    }
    const observer = new ResizeObserver(() => {
      if (follows.current) outer.scrollTo({ top: outer.scrollHeight })
      else onScroll()
    })
    observer.observe(inner)
    outer.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      observer.disconnect()
      outer.removeEventListener('scroll', onScroll)
    }
  }, [box, content])

  return { atEnd, toEnd }
}
