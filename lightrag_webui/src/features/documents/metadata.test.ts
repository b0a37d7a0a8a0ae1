import { expect, it } from 'vitest'
import type { DocStatusResponse } from '@/api/lightrag'
import { emptyForm, faultsOf, formOf, parseMeta, toMetadata, toPatch } from './metadata'
import { reduceUploads, type UploadItem } from './upload-queue'

const document = (change: Partial<DocStatusResponse>): DocStatusResponse => ({
  id: 'd', content_summary: '', content_length: 1, status: 'processed', created_at: '', updated_at: '', file_path: 'a.md', ...change,
})

it('sends only what was filled in, dates with their offset', () => {
  expect(toMetadata(emptyForm())).toEqual({})
  expect(toMetadata({ from: '2024-03-30', to: '2024-03-31', zone: 'Europe/Amsterdam', tags: ['a'], meta: '{"x": 1}', docType: ' act ' })).toEqual({
    start_date: '2024-03-30T00:00:00+01:00', end_date: '2024-03-31T23:59:59.999+02:00', tags: ['a'], meta: { x: 1 }, doc_type: 'act',
  })
})

it('finds faults before anything is sent', () => {
  expect(faultsOf({ ...emptyForm(), from: '2024-02-01', to: '2024-01-01' })).toEqual({ to: 'order' })
  expect(faultsOf({ ...emptyForm(), meta: '{' })).toEqual({ meta: 'json' })
  expect(faultsOf({ ...emptyForm(), meta: '[1]' })).toEqual({ meta: 'notObject' })
  expect(parseMeta('null')).toBe('notObject')
  expect(parseMeta('  ')).toBeNull()
})

it('shows the edges of days as days, anything else to the minute', () => {
  const form = formOf(document({ start_date: '1928-04-01T00:00:00+01:00', end_date: '1928-05-01T12:30:00+01:00' }), 'Europe/Paris')
  expect(form.to).toBe('1928-05-01T12:30')
  expect(formOf(document({ start_date: '2024-07-01T00:00:00+02:00', end_date: '2024-07-31T23:59:59+02:00' }), 'Europe/Paris')).toMatchObject({ from: '2024-07-01', to: '2024-07-31' })
})

it('changes nothing that was not touched', () => {
  const before = formOf(document({ start_date: '2024-07-01T00:00:00+02:00', tags: ['a'], meta: { x: 1 } }), 'Europe/Paris')
  expect(toPatch(before, before)).toEqual({})
  expect(toPatch(before, { ...before, tags: [] })).toEqual({ tags: [] })
  expect(toPatch(before, { ...before, from: '' })).toEqual({ start_date: null })
  expect(toPatch(before, { ...before, meta: '' })).toEqual({ meta: {} })
  expect(toPatch(before, { ...before, to: '2024-07-02' })).toEqual({ end_date: '2024-07-02T23:59:59.999+02:00' })
})

it('takes a file once', () => {
  const item = (id: number, name: string): UploadItem => ({ id, file: new File(['x'], name), state: 'waiting', share: 0, error: null })
  const items = reduceUploads(reduceUploads([], { type: 'add', items: [item(1, 'a')] }), { type: 'add', items: [item(2, 'a'), item(3, 'b')] })
  expect(items.map((one) => one.id)).toEqual([1, 3])
  expect(reduceUploads(items, { type: 'remove', id: 1 })).toHaveLength(1)
})
