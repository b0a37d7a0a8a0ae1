/** A filter as a person sets it, and what of it is sent. */

import type { DateFilter, DateRangeMode, DocumentDateShape, FilterPayload, RequiredTagsMode, UndatedMatch } from '@/api/lightrag'
import { endIso, localZone, startIso } from './zones'

export interface FilterState {
  /** First and last day, or minute, by the wall clock of `zone`; `''` is open. */
  from: string
  to: string
  zone: string
  rangeMode: DateRangeMode
  shape: DocumentDateShape
  undated: UndatedMatch
  required: string[]
  requiredMode: RequiredTagsMode
  forbidden: string[]
  applyForbiddenToKg: boolean
  docTypes: string[]
  folders: string[]
  /** Days between which the source was last changed. */
  modifiedFrom: string
  modifiedTo: string
}

export const PRESETS = {
  broad_retrieval: { rangeMode: 'overlap', shape: 'any', undated: 'exclude' },
  archive_discovery: { rangeMode: 'overlap', shape: 'any', undated: 'include_or' },
  legislation_in_force: { rangeMode: 'contains', shape: 'has_start', undated: 'exclude' },
  activity_in_period: { rangeMode: 'overlap', shape: 'has_start', undated: 'exclude' },
  wholly_within_period: { rangeMode: 'contained_by', shape: 'has_start', undated: 'exclude' },
  strict_catalog: { rangeMode: 'overlap', shape: 'bounded', undated: 'exclude' },
  uncatalogued_only: { rangeMode: 'overlap', shape: 'any', undated: 'only' },
} as const satisfies Record<string, Pick<FilterState, 'rangeMode' | 'shape' | 'undated'>>

export type PresetName = keyof typeof PRESETS
export const PRESET_NAMES = Object.keys(PRESETS) as PresetName[]

export const RANGE_MODES: DateRangeMode[] = ['overlap', 'contained_by', 'contains']
export const SHAPES: DocumentDateShape[] = ['any', 'dated', 'bounded', 'has_start', 'has_end']
export const UNDATED: UndatedMatch[] = ['exclude', 'include_or', 'only']

export function emptyFilter(zone: string = localZone()): FilterState {
  return {
    from: '', to: '', zone, rangeMode: 'overlap', shape: 'any', undated: 'exclude',
    required: [], requiredMode: 'and', forbidden: [], applyForbiddenToKg: false,
    docTypes: [], folders: [], modifiedFrom: '', modifiedTo: '',
  }
}

/** Returns the filter with a preset; `uncatalogued_only` knows no window, so it goes. */
export function withPreset(state: FilterState, name: PresetName): FilterState {
  const preset = PRESETS[name]
  return { ...state, ...preset, ...(preset.undated === 'only' ? { from: '', to: '' } : {}) }
}

/** Returns the preset that the three knobs stand at, if they stand at one. */
export function presetOf(state: FilterState): PresetName | null {
  return PRESET_NAMES.find((name) => {
    const preset = PRESETS[name]
    return preset.rangeMode === state.rangeMode && preset.shape === state.shape && preset.undated === state.undated
  }) ?? null
}

/** Returns the part of a request that limits by date, or nothing when no date matters. */
export function dateFilterOf(state: FilterState): DateFilter | undefined {
  if (state.undated === 'only') return { undated: 'only' }
  const start = state.from ? startIso(state.from, state.zone) : null
  const end = state.to ? endIso(state.to, state.zone) : null
  const filter: DateFilter = {}
  if (start || end) {
    filter.range = { ...(start ? { start } : {}), ...(end ? { end } : {}) }
    if (state.rangeMode !== 'overlap') filter.range_mode = state.rangeMode
  }
  if (state.shape !== 'any') filter.shape = state.shape
  if (state.undated !== 'exclude') filter.undated = state.undated
  return Object.keys(filter).length ? filter : undefined
}

/** Returns what is sent. Keys of what does not limit are left out, so that without a filter nothing is sent at all. */
export function toPayload(state: FilterState): FilterPayload {
  const payload: FilterPayload = {}
  const dates = dateFilterOf(state)
  if (dates) payload.date_filter = dates
  if (state.required.length) payload.required_tags = state.required
  if (state.required.length > 1 && state.requiredMode === 'or') payload.required_tags_mode = 'or'
  if (state.forbidden.length) payload.forbidden_tags = state.forbidden
  if (state.forbidden.length && state.applyForbiddenToKg) payload.apply_forbidden_tags_to_kg = true
  if (state.docTypes.length) payload.doc_types = state.docTypes
  if (state.folders.length) payload.path_prefixes = state.folders
  const after = state.modifiedFrom && startIso(state.modifiedFrom, state.zone)
  const before = state.modifiedTo && endIso(state.modifiedTo, state.zone)
  if (after) payload.modified_after = after
  if (before) payload.modified_before = before
  return payload
}

export function isActive(state: FilterState): boolean {
  return Object.keys(toPayload(state)).length > 0
}

/** What is wrong with a filter before it is sent. */
export function filterFault(state: FilterState): 'order' | 'modifiedOrder' | null {
  const wrong = (from: string, to: string) => {
    const [start, end] = [from && startIso(from, state.zone), to && endIso(to, state.zone)]
    return Boolean(start && end && Date.parse(start) > Date.parse(end))
  }
  if (wrong(state.from, state.to)) return 'order'
  return wrong(state.modifiedFrom, state.modifiedTo) ? 'modifiedOrder' : null
}

/** The form of a tag that the server stores and compares; `''` when nothing is left of it. */
export function normalizeTag(tag: string): string {
  const bare = tag.trim().normalize('NFKC').toLowerCase().normalize('NFKD').replace(/\p{M}+/gu, '')
  return bare.replace(/ß/g, 'ss').replace(/[^a-z0-9:_-]+/g, '_').replace(/_+/g, '_').replace(/^_+|_+$/g, '')
}
