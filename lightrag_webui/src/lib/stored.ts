import { useCallback, useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
const parsed = new Map<string, { text: string | null; value: unknown }>()

function readText(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

/** Reads a value that this browser keeps; `otherwise` when there is none or it cannot be read. */
export function readStored<T>(name: string, otherwise: T): T {
  const text = readText(name)
  const known = parsed.get(name)
  if (known && known.text === text) return known.value as T
  let value: unknown = otherwise
  if (text !== null) {
    try {
      value = JSON.parse(text)
    } catch {
      value = otherwise
    }
  }
  parsed.set(name, { text, value })
  return value as T
}

export function writeStored(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value))
  } catch {
    // Full or forbidden: the value lives as long as the page.
    parsed.set(name, { text: readText(name), value })
  }
  for (const listener of listeners) listener()
}

/** A value that this browser keeps, the same in all parts of the page and all its tabs. */
export function useStored<T>(name: string, otherwise: T): [T, (change: T | ((before: T) => T)) => void] {
  const subscribe = useCallback((listener: () => void) => {
    listeners.add(listener)
    window.addEventListener('storage', listener)
    return () => {
      listeners.delete(listener)
      window.removeEventListener('storage', listener)
    }
  }, [])
  const value = useSyncExternalStore(subscribe, () => readStored(name, otherwise))
  const set = useCallback(
    (change: T | ((before: T) => T)) => {
      const before = readStored(name, otherwise)
      writeStored(name, typeof change === 'function' ? (change as (before: T) => T)(before) : change)
    },
    [name, otherwise],
  )
  return [value, set]
}
