/** Wall-clock times of a zone as ISO-8601 texts with the offset that the zone has at that date. */

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23', era: 'short',
      year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit',
    })
    formats.set(zone, format)
  }
  return format
}

/** Milliseconds by which the wall clock of a zone is ahead of UTC at an instant. */
export function offsetAt(instant: number, zone: string): number {
  const parts = Object.fromEntries(formatOf(zone).formatToParts(instant).map((part) => [part.type, part.value]))
  const year = parts['era']?.startsWith('B') ? 1 - Number(parts['year']) : Number(parts['year'])
  const wall = utc(year, Number(parts['month']), Number(parts['day']), Number(parts['hour']), Number(parts['minute']), Number(parts['second']))
  return wall - Math.floor(instant / 1000) * 1000
}

function utc(year: number, month: number, day: number, hour = 0, minute = 0, second = 0, milli = 0): number {
  const date = new Date(0)
  // Date.UTC takes years below 100 for 19xx.
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second, milli)
  return date.getTime()
}

/** Instants at which the wall clock of the zone shows this time: none in a gap, two in an overlap. */
function instantsOf(wall: number, zone: string): number[] {
  const day = 86_400_000
  const offsets = new Set([offsetAt(wall - day, zone), offsetAt(wall + day, zone), offsetAt(wall, zone)])
  return [...offsets].map((offset) => wall - offset).filter((instant) => instant + offsetAt(instant, zone) === wall).sort((a, b) => a - b)
}

/** The instant of a wall-clock time; one that daylight saving skips is taken as that much later. */
function instantOf(wall: number, zone: string, which: 'first' | 'last' = 'first'): number {
  const found = instantsOf(wall, zone)
  const chosen = which === 'first' ? found[0] : found[found.length - 1]
  if (chosen !== undefined) return chosen
  return wall - offsetAt(wall - 86_400_000, zone)
}

/** Writes an instant with the zone's offset; one with seconds, of the time before 1940 or so, loses only the seconds of the offset. */
export function toIso(instant: number, zone: string): string {
  const offset = Math.trunc(offsetAt(instant, zone) / 60_000) * 60_000
  const text = new Date(instant + offset).toISOString()
  const minutes = Math.abs(offset) / 60_000
  const pad = (value: number) => String(value).padStart(2, '0')
  const suffix = `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`
  return text.replace(/\.000Z$|Z$/, suffix)
}

interface Wall {
  wall: number
  precision: 'day' | 'minute' | 'second'
}

const PATTERN = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?)?$/

/** Reads `2024-03-31` or `2024-03-31T02:30`; `null` when it is neither or no such day exists. */
export function parseWall(text: string): Wall | null {
  const match = PATTERN.exec(text.trim())
  if (!match) return null
  const [, year, month, day, hour, minute, second, milli] = match
  const wall = utc(Number(year), Number(month), Number(day), Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0), Number((milli ?? '0').padEnd(3, '0')))
  const back = new Date(wall)
  if (Number(year) < 1 || back.getUTCDate() !== Number(day) || back.getUTCMonth() + 1 !== Number(month) || Number(hour ?? 0) > 23) return null
  return { wall, precision: hour === undefined ? 'day' : second === undefined ? 'minute' : 'second' }
}

/** Returns the first instant of a day or minute, as ISO with offset. */
export function startIso(text: string, zone: string): string | null {
  const parsed = parseWall(text)
  return parsed && toIso(instantOf(parsed.wall, zone), zone)
}

/** Returns the last millisecond of a day or minute, as ISO with offset. The day may have 23 or 25 hours. */
export function endIso(text: string, zone: string): string | null {
  const parsed = parseWall(text)
  if (!parsed) return null
  if (parsed.precision === 'second') return toIso(instantOf(parsed.wall, zone, 'last'), zone)
  if (parsed.precision === 'minute') return toIso(instantOf(parsed.wall, zone, 'last') + 59_999, zone)
  const next = instantOf(parsed.wall + 86_400_000, zone)
  return toIso(next - 1, zone)
}

/** Returns the wall-clock day of an ISO text in a zone, such as `2024-03-31`. */
export function wallDay(iso: string, zone: string): string {
  return wallMinute(iso, zone).slice(0, 10)
}

/** Returns the wall-clock minute of an ISO text in a zone, such as `2024-03-31T02:30`; `''` when it is no date. */
export function wallMinute(iso: string, zone: string): string {
  const instant = Date.parse(iso)
  if (Number.isNaN(instant)) return ''
  return new Date(instant + offsetAt(instant, zone)).toISOString().slice(0, 16)
}

export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
}

export function isZone(name: string): boolean {
  try {
    formatOf(name)
    return true
  } catch {
    return false
  }
}

/** All zones that this browser knows, its own and UTC first. */
export function allZones(): string[] {
  return [...new Set([localZone(), 'UTC', ...Intl.supportedValuesOf('timeZone')])]
}

/** `UTC+02:00`, as the zone has it on that day. */
export function offsetLabel(zone: string, instant: number = Date.now()): string {
  return `UTC${toIso(instant, zone).slice(-6)}`
}
