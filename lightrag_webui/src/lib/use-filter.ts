import { useCallback, useMemo } from 'react'
import { useSearchParams } from 'react-router'
import { readFilter, writeFilter } from './filter-url'
import type { FilterState } from './filters'

export type SetFilter = (change: Partial<FilterState>) => void

/**
 * The parameters as the address has them now.
 *
 * What a component was drawn with may be older: of two changes in quick succession the second would undo the first.
 */
function paramsNow(): URLSearchParams {
  // What follows the first question mark: an address written by hand may hold more of them.
  const { hash } = window.location
  return new URLSearchParams(hash.includes('?') ? hash.slice(hash.indexOf('?') + 1) : '')
}

/** The filter in the address of the page. */
export function useFilter(): [FilterState, SetFilter] {
  const [params, setParams] = useSearchParams()
  const state = useMemo(() => readFilter(params), [params])
  const change = useCallback(
    (part: Partial<FilterState>) => {
      const before = paramsNow()
      const next = writeFilter(before, { ...readFilter(before), ...part })
      next.delete('page')
      setParams(next, { replace: true })
    },
    [setParams],
  )
  return [state, change]
}

/** Changes several parameters of the address at once. */
export function useChangeParams(): (edit: (params: URLSearchParams) => URLSearchParams) => void {
  const [, setParams] = useSearchParams()
  return useCallback((edit) => setParams(edit(paramsNow()), { replace: true }), [setParams])
}

/** Parameters with which a list is another one, so that its page no longer means anything. */
const CHANGES_LIST: ReadonlySet<string> = new Set(['q', 'state', 'size'])

/** One parameter of the address; the default is not written down. */
export function useParam(name: string, otherwise = ''): [string, (value: string) => void] {
  const [params, setParams] = useSearchParams()
  const set = useCallback(
    (value: string) => {
      const next = paramsNow()
      if (value && value !== otherwise) next.set(name, value)
      else next.delete(name)
      if (CHANGES_LIST.has(name)) next.delete('page')
      setParams(next, { replace: true })
    },
    [name, otherwise, setParams],
  )
  return [params.get(name) ?? otherwise, set]
}
