import { readFilter, writeFilter } from '@/lib/filter-url'
import type { FilterState } from '@/lib/filters'
import { useHealth } from '@/lib/queries'
import { scopePrefixes, scopesIn } from '@/lib/scopes'
import { useChangeParams, useFilter, useParam, type SetFilter } from '@/lib/use-filter'
import { DEPTHS, SIZES } from './Settings'
import type { GraphView } from './useLightragGraph'

interface GraphAddress {
  view: GraphView
  /** The filter as it is in the address, for its chips. */
  filter: FilterState
  setFilter: SetFilter
  setLabel: (label: string) => void
  setDepth: (depth: string) => void
  setSize: (size: string) => void
  setScope: (scope: string | null) => void
  setCompare: (compare: boolean) => void
  /** Entities that the server shows at the most. */
  limit: number
  ready: boolean
}

const NO_LIMIT = 10_000

/**
 * What the address says of the graph that is shown.
 *
 * A filter that comes from a question may require a scope. It is the scope of the graph then, and not a tag among others: a
 * scope that is chosen here takes its place.
 */
export function useGraphAddress(): GraphAddress {
  const health = useHealth()
  const [filter, setFilter] = useFilter()
  const [label, setLabel] = useParam('label', '*')
  const [scope] = useParam('scope')
  const [depth, setDepth] = useParam('depth', '2')
  const [size, setSize] = useParam('nodes', '500')
  const [compare, setCompare] = useParam('compare')
  const change = useChangeParams()

  const prefixes = scopePrefixes(health.data)
  const required = scopesIn(filter.required, prefixes)
  const graphScopeTag = required[0] ?? (scope || null)
  const configured = Number(health.data?.configuration?.['max_graph_nodes'])
  const limit = configured > 0 ? configured : NO_LIMIT
  return {
    view: {
      queryLabel: label,
      graphQueryMaxDepth: DEPTHS.find((one) => one === Number(depth)) ?? 2,
      graphMaxNodes: Math.min(limit, SIZES.find((one) => one === Number(size)) ?? 500),
      graphScopeTag,
      filter: required.length ? { ...filter, required: filter.required.filter((tag) => !required.includes(tag)) } : filter,
      compare: compare === '1' && graphScopeTag !== null,
    },
    filter,
    setFilter,
    setLabel,
    setDepth,
    setSize,
    setScope: (next) =>
      change((params) => {
        const before = readFilter(params)
        const changed = writeFilter(params, { ...before, required: before.required.filter((tag) => !scopesIn([tag], prefixes).length) })
        if (next) changed.set('scope', next)
        else changed.delete('scope')
        if (!next) changed.delete('compare')
        return changed
      }),
    setCompare: (next) => setCompare(next ? '1' : ''),
    limit,
    ready: !health.isPending,
  }
}
