import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { listScopes, queryFilteredGraph, queryGraphs, type GraphResponse } from '@/api/lightrag'
import { toPayload, type FilterState } from '@/lib/filters'
import { unknownTo } from './graph-data'

export interface GraphView {
  /** Name of an entity, or `*` for the best connected ones. */
  queryLabel: string
  graphQueryMaxDepth: number
  graphMaxNodes: number
  /** Scope, or `null` for the whole. */
  graphScopeTag: string | null
  filter: FilterState
  /** Whether what the scope does not know is shown too. */
  compare: boolean
}

export interface ShownGraph {
  data: GraphResponse
  /** Names that the scope does not know. */
  hidden: ReadonlySet<string>
}

const NOTHING: ReadonlySet<string> = new Set()

export function useScopes() {
  return useQuery({ queryKey: ['scopes'], queryFn: listScopes, staleTime: 15_000 })
}

/** The graph of a view. Another label, depth, size, scope or filter fetches it anew. */
export function useLightragGraph(view: GraphView) {
  const { queryLabel, graphQueryMaxDepth, graphMaxNodes, graphScopeTag, compare } = view
  const filter = toPayload(view.filter)
  const filtered = Object.keys(filter).length > 0
  const requiredTags = graphScopeTag ? [graphScopeTag] : []

  return useQuery({
    queryKey: ['graph', queryLabel, graphQueryMaxDepth, graphMaxNodes, graphScopeTag, filtered ? filter : null, compare],
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    queryFn: async ({ signal }): Promise<ShownGraph> => {
      const fetchPart = (tags: string[]) =>
        filtered
          ? queryFilteredGraph(
              { label: queryLabel, max_depth: graphQueryMaxDepth, max_nodes: graphMaxNodes },
              { ...filter, ...(tags.length ? { required_tags: [...new Set([...(filter.required_tags ?? []), ...tags])] } : {}) },
              signal,
            )
          : queryGraphs(queryLabel, graphQueryMaxDepth, graphMaxNodes, tags, signal)
      const data = await fetchPart(requiredTags)
      if (!compare || !graphScopeTag) return { data, hidden: NOTHING }
      const whole = await fetchPart([])
      return { data: whole, hidden: unknownTo(whole, data) }
    },
  })
}
