/** What documents say of themselves, as pages show it. */

/**
 * Returns the address of a document's source, or `null` when there is none that is safe to link.
 *
 * Only absolute `http:` and `https:` addresses count: anything else could run code or leave for where nobody expects.
 */
export function getDocumentMetaHref(meta: Record<string, unknown> | null | undefined): string | null {
  const href = meta?.['href']
  if (typeof href !== 'string') return null
  const trimmed = href.trim()
  // Control characters and blanks inside: browsers drop some of them, so that what is read is not what is opened.
  // eslint-disable-next-line no-control-regex
  if (!/^https?:\/\/[^/?#\\]/i.test(trimmed) || /[\u0000-\u0020\u007f]/.test(trimmed)) return null
  try {
    const url = new URL(trimmed)
    return url.protocol === 'http:' || url.protocol === 'https:' ? trimmed : null
  } catch {
    return null
  }
}

/** Returns the title that a document's metadata gives it, or the last part of its path. */
export function getDocumentTitle(document: { file_path: string; meta?: Record<string, unknown> | null }): string {
  const title = document.meta?.['title']
  if (typeof title === 'string' && title.trim()) return title.trim()
  return document.file_path.split('/').pop() || document.file_path
}
