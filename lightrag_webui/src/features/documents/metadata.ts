/** The metadata of documents as a form has it, and as it is sent. */

import type { DocStatusResponse, MetadataPatch } from '@/api/lightrag'
import { endIso, localZone, startIso, wallMinute } from '@/lib/zones'

export interface MetadataForm {
  from: string
  to: string
  zone: string
  tags: string[]
  /** JSON as typed. */
  meta: string
  docType: string
}

export type MetadataFault = 'order' | 'json' | 'notObject' | 'href'

export const MAX_TAGS = 64

export const emptyForm = (): MetadataForm => ({ from: '', to: '', zone: localZone(), tags: [], meta: '', docType: '' })

/** Reads the JSON of a form; an object, `null` when there is none, or what is wrong with it. */
export function parseMeta(text: string): Record<string, unknown> | null | MetadataFault {
  if (!text.trim()) return null
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'json'
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'notObject'
  return value as Record<string, unknown>
}

/** What is wrong with each field. */
export function faultsOf(form: MetadataForm): { to?: 'order'; meta?: 'json' | 'notObject' } {
  const start = form.from && startIso(form.from, form.zone)
  const end = form.to && endIso(form.to, form.zone)
  const meta = parseMeta(form.meta)
  return {
    ...(start && end && Date.parse(start) > Date.parse(end) ? { to: 'order' as const } : {}),
    ...(meta === 'json' || meta === 'notObject' ? { meta } : {}),
  }
}

/** Returns what an upload sends: only what was filled in. Dates carry the offset of the zone at that date. */
export function toMetadata(form: MetadataForm): Record<string, unknown> {
  const meta = parseMeta(form.meta)
  const start = form.from && startIso(form.from, form.zone)
  const end = form.to && endIso(form.to, form.zone)
  return {
    ...(start ? { start_date: start } : {}),
    ...(end ? { end_date: end } : {}),
    ...(form.tags.length ? { tags: form.tags } : {}),
    ...(meta && typeof meta === 'object' ? { meta } : {}),
    ...(form.docType.trim() ? { doc_type: form.docType.trim() } : {}),
  }
}

/** Fills a form from a document. A bound that is the edge of a day in the zone is shown as that day. */
export function formOf(document: DocStatusResponse, zone: string = localZone()): MetadataForm {
  const meta = document.meta ?? {}
  return {
    from: shown(document.start_date, zone, startIso),
    to: shown(document.end_date, zone, endIso),
    zone,
    tags: document.tags ?? [],
    meta: Object.keys(meta).length ? JSON.stringify(meta, null, 2) : '',
    docType: document.doc_type ?? '',
  }
}

function shown(iso: string | null | undefined, zone: string, edge: (day: string, zone: string) => string | null): string {
  if (!iso) return ''
  const minute = wallMinute(iso, zone)
  const day = minute.slice(0, 10)
  const bound = edge(day, zone)
  // A stored end may be the last second of its day as well as the last millisecond.
  return bound && Math.abs(Date.parse(bound) - Date.parse(iso)) < 1000 ? day : minute
}

/** Returns what an edit changes, and nothing else: a date that was not touched keeps the offset it was given with. */
export function toPatch(before: MetadataForm, after: MetadataForm): MetadataPatch {
  const patch: MetadataPatch = {}
  const sameZone = before.zone === after.zone
  if (before.from !== after.from || (!sameZone && after.from)) patch.start_date = after.from ? startIso(after.from, after.zone) : null
  if (before.to !== after.to || (!sameZone && after.to)) patch.end_date = after.to ? endIso(after.to, after.zone) : null
  if (before.tags.join('\n') !== after.tags.join('\n')) patch.tags = after.tags
  if (before.meta !== after.meta) {
    const meta = parseMeta(after.meta)
    patch.meta = meta && typeof meta === 'object' ? meta : {}
  }
  if (before.docType.trim() !== after.docType.trim()) patch.doc_type = after.docType.trim() || null
  return patch
}
