import { expect, it } from 'vitest'

import { emptyFilter } from '@/lib/filters'

import { chipsOf } from './chips'

const words = (key: string, values?: Record<string, unknown>) => `${key} ${JSON.stringify(values ?? {})}`
const dates = (from: string, to: string) => chipsOf({ ...emptyFilter(), from, to }, words, 'en-GB').find((chip) => chip.key === 'dates')?.text

it('says a single day once', () => {
  expect(dates('1930-06-15', '1930-06-15')).toBe('15 Jun 1930')
  expect(dates('1930-06-15', '1930-06-16')).toBe('filter.chip.between {"from":"15 Jun 1930","to":"16 Jun 1930"}')
  expect(dates('', '1930-06-15')).toBe('filter.chip.until {"to":"15 Jun 1930"}')
})
