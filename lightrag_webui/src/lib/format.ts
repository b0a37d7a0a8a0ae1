/** The language of the page as the viewer's region writes it: English with British dates for a British browser. */
function regional(language: string): string {
  return navigator.languages.find((one) => one === language || one.startsWith(`${language}-`)) ?? language
}

const day: Intl.DateTimeFormatOptions = { year: 'numeric', month: 'short', day: 'numeric' }

/** A moment in the viewer's zone, such as `31 Jan 2026, 11:15`. */
export function formatMoment(iso: string | null | undefined, language: string): string {
  const instant = iso ? Date.parse(iso) : Number.NaN
  if (Number.isNaN(instant)) return ''
  return new Intl.DateTimeFormat(regional(language), { ...day, hour: '2-digit', minute: '2-digit' }).format(instant)
}

/** The calendar day that a document's date names, in the offset that it was given with: a law begins on its own day everywhere. */
export function formatDocumentDay(iso: string | null | undefined, language: string): string {
  const match = iso ? /^(\d{4})-(\d{2})-(\d{2})/.exec(iso) : null
  if (!match) return ''
  const date = new Date(0)
  date.setUTCFullYear(Number(match[1]), Number(match[2]) - 1, Number(match[3]))
  return new Intl.DateTimeFormat(regional(language), { ...day, timeZone: 'UTC' }).format(date)
}

export function formatWall(wall: string, language: string): string {
  const timed = wall.length > 10
  const instant = Date.parse(timed ? `${wall}Z` : `${wall}T00:00Z`)
  if (Number.isNaN(instant)) return wall
  return new Intl.DateTimeFormat(regional(language), { ...day, ...(timed ? { hour: '2-digit', minute: '2-digit' } : {}), timeZone: 'UTC' }).format(instant)
}

export function formatNumber(value: number, language: string): string {
  return new Intl.NumberFormat(regional(language)).format(value)
}

/** Bytes or characters in short, such as `12 kB`. */
export function formatSize(bytes: number, language: string): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const
  const step = bytes < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(bytes) / 3))
  return new Intl.NumberFormat(regional(language), { style: 'unit', unit: units[step], unitDisplay: 'short', maximumFractionDigits: step ? 1 : 0 }).format(bytes / 1000 ** step)
}

