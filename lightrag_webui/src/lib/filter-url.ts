/** A filter in the address of a page, so that it can be kept, sent and gone back to. */

import type { DateRangeMode, DocumentDateShape, UndatedMatch } from '@/api/lightrag'
import { emptyFilter, RANGE_MODES, SHAPES, UNDATED, type FilterState } from './filters'
import { isZone, localZone, parseWall } from './zones'

const LISTS = { required: 'tag', forbidden: 'not', docTypes: 'type', folders: 'folder' } as const
const DAYS = { from: 'from', to: 'to', modifiedFrom: 'changed-from', modifiedTo: 'changed-to' } as const

/** Names of all parameters that a filter uses. */
export const FILTER_PARAMS: readonly string[] = [
  ...Object.values(LISTS), ...Object.values(DAYS), 'zone', 'match', 'shape', 'undated', 'any', 'kg',
]

function oneOf<T extends string>(allowed: readonly T[], value: string | null, otherwise: T): T {
  return allowed.find((one) => one === value) ?? otherwise
}

/** Reads a filter; what cannot be understood is as if it were not there. */
export function readFilter(params: URLSearchParams): FilterState {
  const zone = params.get('zone')
  const state = emptyFilter(zone && isZone(zone) ? zone : localZone())
  for (const [field, name] of Object.entries(LISTS) as Array<[keyof typeof LISTS, string]>) {
    state[field] = [...new Set(params.getAll(name).filter(Boolean))]
  }
  for (const [field, name] of Object.entries(DAYS) as Array<[keyof typeof DAYS, string]>) {
    const value = params.get(name) ?? ''
    state[field] = parseWall(value) ? value : ''
  }
  state.rangeMode = oneOf<DateRangeMode>(RANGE_MODES, params.get('match'), 'overlap')
  state.shape = oneOf<DocumentDateShape>(SHAPES, params.get('shape'), 'any')
  state.undated = oneOf<UndatedMatch>(UNDATED, params.get('undated'), 'exclude')
  state.requiredMode = params.get('any') === '1' ? 'or' : 'and'
  state.applyForbiddenToKg = params.get('kg') === '1'
  return state
}

/** Returns the parameters with a filter in place of the one they had; everything else stays. */
export function writeFilter(params: URLSearchParams, state: FilterState): URLSearchParams {
  const next = new URLSearchParams(params)
  for (const name of FILTER_PARAMS) next.delete(name)
  for (const [field, name] of Object.entries(LISTS) as Array<[keyof typeof LISTS, string]>) {
    for (const value of state[field]) next.append(name, value)
  }
  for (const [field, name] of Object.entries(DAYS) as Array<[keyof typeof DAYS, string]>) {
    if (state[field]) next.set(name, state[field])
  }
  // Dates mean the same for whoever opens the address elsewhere; a zone chosen before there are dates is not lost.
  const dated = Object.keys(DAYS).some((field) => state[field as keyof typeof DAYS])
  if (dated || state.zone !== localZone()) next.set('zone', state.zone)
  if (state.rangeMode !== 'overlap') next.set('match', state.rangeMode)
  if (state.shape !== 'any') next.set('shape', state.shape)
  if (state.undated !== 'exclude') next.set('undated', state.undated)
  if (state.requiredMode === 'or') next.set('any', '1')
  if (state.applyForbiddenToKg) next.set('kg', '1')
  return next
}

/** Returns the parameters of a filter alone, as text without a question mark. */
export function filterQuery(state: FilterState): string {
  return writeFilter(new URLSearchParams(), state).toString()
}
