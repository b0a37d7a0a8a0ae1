import { expect, it } from 'vitest'
import { filterQuery, readFilter, writeFilter } from './filter-url'
import { emptyFilter, type FilterState } from './filters'

const full: FilterState = {
  from: '1930-01-01', to: '1939-12-31T12:30', zone: 'Asia/Tokyo', rangeMode: 'contains', shape: 'has_start', undated: 'include_or', required: ['a:1', 'b&c=d'], requiredMode: 'or',
  forbidden: ['draft'], applyForbiddenToKg: true, docTypes: ['act'], folders: ['archive/ä b'], modifiedFrom: '2026-01-01', modifiedTo: '2026-02-01',
}

it('comes back as it went', () => {
  expect(readFilter(new URLSearchParams(filterQuery(full)))).toEqual(full)
  expect(readFilter(new URLSearchParams())).toEqual(emptyFilter())
  expect(filterQuery(emptyFilter())).toBe('')
})

it('leaves other parameters alone and takes the old filter away', () => {
  const next = writeFilter(new URLSearchParams('mode=naive&tag=old&from=2000-01-01'), { ...emptyFilter(), required: ['new'] })
  expect(next.toString()).toBe('mode=naive&tag=new')
})

it('reads nonsense as nothing', () => {
  const state = readFilter(new URLSearchParams('from=yesterday&zone=Nowhere&match=x&shape=y&undated=z&any=2&tag=&tag=a&tag=a'))
  expect(state).toEqual({ ...emptyFilter(), required: ['a'] })
})
