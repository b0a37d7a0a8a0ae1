import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'
const NAME = 'lightrag.theme'
const listeners = new Set<() => void>()

export function getTheme(): Theme {
  try {
    const value = localStorage.getItem(NAME)
    return value === 'dark' || value === 'light' ? value : 'system'
  } catch {
    return 'system'
  }
}

function prefersDark(): boolean {
  return window.matchMedia?.('(prefers-color-scheme: dark)').matches ?? false
}

export function isDark(): boolean {
  const theme = getTheme()
  return theme === 'dark' || (theme === 'system' && prefersDark())
}

export function applyTheme(): void {
  document.documentElement.classList.toggle('dark', isDark())
  for (const listener of listeners) listener()
}

export function setTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(NAME)
    else localStorage.setItem(NAME, theme)
  } catch {
    // Without storage the page is as the system is.
  }
  applyTheme()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, getTheme)
export const useIsDark = (): boolean => useSyncExternalStore(subscribe, isDark)
