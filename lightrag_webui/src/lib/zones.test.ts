import { describe, expect, it } from 'vitest'
import { allZones, endIso, isZone, offsetLabel, parseWall, startIso, toIso, wallMinute } from './zones'

describe('the first instant of a day', () => {
  it.each([
    ['2024-01-15', 'UTC', '2024-01-15T00:00:00+00:00'],
    ['2024-01-15', 'Europe/Amsterdam', '2024-01-15T00:00:00+01:00'],
    ['2024-07-15', 'Europe/Amsterdam', '2024-07-15T00:00:00+02:00'],
    ['2030-03-30', 'Europe/Amsterdam', '2030-03-30T00:00:00+01:00'],
    ['2024-07-15', 'America/New_York', '2024-07-15T00:00:00-04:00'],
    ['2024-07-15', 'Asia/Kolkata', '2024-07-15T00:00:00+05:30'],
    ['0800-12-25', 'UTC', '0800-12-25T00:00:00+00:00'],
  ])('%s in %s is %s', (day, zone, iso) => expect(startIso(day, zone)).toBe(iso))

  it('is the first instant that exists where midnight is skipped', () => {
    // In Beirut the clock went from 23:59 to 01:00 on that day.
    expect(startIso('2022-03-27', 'Asia/Beirut')).toBe('2022-03-27T01:00:00+03:00')
  })
})

describe('the last millisecond of a day', () => {
  it.each([
    ['2024-01-15', 'Europe/Amsterdam', '2024-01-15T23:59:59.999+01:00'],
    // The day on which summer time begins ends with another offset than it began with, and so does the one on which it ends.
    ['2024-03-31', 'Europe/Amsterdam', '2024-03-31T23:59:59.999+02:00'],
    ['2024-10-27', 'Europe/Amsterdam', '2024-10-27T23:59:59.999+01:00'],
  ])('%s in %s is %s', (day, zone, iso) => expect(endIso(day, zone)).toBe(iso))

  it('makes days of 23 and 25 hours', () => {
    const hours = (day: string) => (Date.parse(endIso(day, 'Europe/Amsterdam') ?? '') + 1 - Date.parse(startIso(day, 'Europe/Amsterdam') ?? '')) / 3_600_000
    expect([hours('2024-03-31'), hours('2024-10-27'), hours('2024-10-28')]).toEqual([23, 25, 24])
  })

  it('ends a minute at its last millisecond, the later one where the minute comes twice', () => {
    expect(endIso('2024-10-27T02:30', 'Europe/Amsterdam')).toBe('2024-10-27T02:30:59.999+01:00')
    expect(startIso('2024-10-27T02:30', 'Europe/Amsterdam')).toBe('2024-10-27T02:30:00+02:00')
  })

  it('takes a minute that does not exist as one hour later', () => {
    expect(startIso('2024-03-31T02:30', 'Europe/Amsterdam')).toBe('2024-03-31T03:30:00+02:00')
  })
})

it('keeps the instant of old offsets with seconds', () => {
  const iso = startIso('1930-05-01', 'Europe/Amsterdam') ?? ''
  expect(iso).toMatch(/^1930-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/)
  expect(wallMinute(iso, 'Europe/Amsterdam')).toBe('1930-05-01T00:00')
})

it('never writes a date without an offset', () => {
  for (const zone of ['UTC', 'Europe/Dublin', 'Pacific/Apia', 'America/St_Johns', 'Asia/Kathmandu']) {
    for (const day of ['0001-01-02', '1752-09-03', '1900-01-01', '1999-12-31', '2011-12-30', '2024-02-29', '9999-12-30']) {
      expect(startIso(day, zone)).toMatch(/[+-]\d\d:\d\d$/)
      expect(endIso(day, zone)).toMatch(/[+-]\d\d:\d\d$/)
      // In Apia there was no 30 December 2011: that day ends just before it would begin.
      expect(Date.parse(endIso(day, zone) ?? '')).toBeGreaterThanOrEqual(Date.parse(startIso(day, zone) ?? '') - 1)
    }
  }
})

it('refuses days that do not exist', () => {
  for (const text of ['', '2023-02-29', '2024-13-01', '2024-00-10', '24-01-01', '2024-1-1', '2024-01-01T25:00', 'yesterday']) expect(parseWall(text)).toBeNull()
  expect(startIso('2023-02-29', 'UTC')).toBeNull()
})

it('knows zones and their offsets', () => {
  expect(isZone('Europe/Amsterdam')).toBe(true)
  expect(isZone('Europe/Nowhere')).toBe(false)
  expect(allZones()).toContain('UTC')
  expect(offsetLabel('Asia/Tokyo')).toBe('UTC+09:00')
  expect(toIso(0, 'Asia/Tokyo')).toBe('1970-01-01T09:00:00+09:00')
})
