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

/** Makes of whatever was kept a value that can be used. Other versions of the page, or a hand, may have written anything. */
export type Reads<T> = (value: unknown) => T

export const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keeps the items of a list that are of a kind. */
export const listOf =
  <T>(isOne: (item: unknown) => item is T): Reads<T[]> =>
  (value) =>
    Array.isArray(value) ? value.filter(isOne) : []

/** Fills a record from defaults wherever a field has another type than there; where the default is `null`, than those named. */
export const like =
  <T extends object>(defaults: T, instead: readonly string[] = []): Reads<T> =>
  (value) => {
    if (!isRecord(value)) return defaults
    const fits = (name: string, known: unknown) => (known === null ? instead.includes(typeof value[name]) : typeof value[name] === typeof known)
    return Object.fromEntries(Object.entries(defaults).map(([name, known]) => [name, fits(name, known) ? value[name] : known])) as T
  }

/** Reads a value that this browser keeps; `otherwise` when there is none or it cannot be read. */
export function readStored<T>(name: string, otherwise: T, reads: Reads<T>): T {
  const text = readText(name)
  const known = parsed.get(name)
  if (known && known.text === text) return known.value as T
  let value = otherwise
  if (text !== null) {
    try {
      value = reads(JSON.parse(text))
    } catch {
      value = otherwise
    }
  }
  parsed.set(name, { text, value })
  return value
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
export function useStored<T>(name: string, otherwise: T, reads: Reads<T>): [T, (change: T | ((before: T) => T)) => void] {
  const subscribe = useCallback((listener: () => void) => {
    listeners.add(listener)
    window.addEventListener('storage', listener)
    return () => {
      listeners.delete(listener)
      window.removeEventListener('storage', listener)
    }
  }, [])
  const value = useSyncExternalStore(subscribe, () => readStored(name, otherwise, reads))
  const set = useCallback(
    (change: T | ((before: T) => T)) => {
      const before = readStored(name, otherwise, reads)
      writeStored(name, typeof change === 'function' ? (change as (before: T) => T)(before) : change)
    },
    [name, otherwise, reads],
  )
  return [value, set]
}
