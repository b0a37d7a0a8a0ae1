/** Parts of the page that could not be fetched: the server is away, or has a newer page by now. */

const failed = new WeakSet<object>()

/** Remembers which errors come from loading, so that they can be told apart from those of a script. */
export function watchLoading(): void {
  window.addEventListener('vite:preloadError', (event) => failed.add(event.payload))
}

export const isLoadError = (error: unknown): boolean => typeof error === 'object' && error !== null && failed.has(error)

const NAME = 'lightrag.reloaded'
const PATIENCE = 20_000

/** Loads the page anew if the server answers; `false` when it does not, or when that has just been tried in vain. */
export async function reloadIfServed(): Promise<boolean> {
  const served = await fetch(window.location.pathname, { cache: 'no-store' }).then((response) => response.ok, () => false)
  if (!served) return false
  try {
    if (Date.now() - Number(sessionStorage.getItem(NAME) ?? 0) < PATIENCE) return false
    sessionStorage.setItem(NAME, String(Date.now()))
  } catch {
    // Without storage nobody can tell; the person decides.
    return false
  }
  window.location.reload()
  return true
}
