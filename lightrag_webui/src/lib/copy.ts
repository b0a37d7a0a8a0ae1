/** Puts a text on the clipboard and tells whether that worked. Pages without HTTPS have no clipboard but the old command. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyByCommand(text)
  }
}

function copyByCommand(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.setAttribute('readonly', '')
  area.style.cssText = 'position:fixed;inset:0 auto auto 0;opacity:0'
  // Inside an open dialog, where there is one: focus may not leave it.
  const place = document.activeElement?.closest('[role=dialog]') ?? document.body
  const before = document.activeElement
  place.append(area)
  area.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    area.remove()
    if (before instanceof HTMLElement) before.focus()
  }
}
