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

/** Fetches the surroundings of an entity as a scope and a filter leave them; nothing else may come into the picture. */
export function fetchGraphPart(part: { label: string; depth: number; nodes: number; scope: string | null }, filter: FilterState, signal?: AbortSignal): Promise<GraphResponse> {
  const payload = toPayload(filter)
  const tags = part.scope ? [part.scope] : []
  if (Object.keys(payload).length === 0) return queryGraphs(part.label, part.depth, part.nodes, tags, signal)
  const required = [...new Set([...(payload.required_tags ?? []), ...tags])]
  return queryFilteredGraph({ label: part.label, max_depth: part.depth, max_nodes: part.nodes }, { ...payload, ...(required.length ? { required_tags: required } : {}) }, signal)
}

/** The graph of a view. Another label, depth, size, scope or filter fetches it anew. */
export function useLightragGraph(view: GraphView) {
  const { queryLabel, graphQueryMaxDepth, graphMaxNodes, graphScopeTag, filter, compare } = view
  return useQuery({
    queryKey: ['graph', queryLabel, graphQueryMaxDepth, graphMaxNodes, graphScopeTag, toPayload(filter), compare],
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    queryFn: async ({ signal }): Promise<ShownGraph> => {
      const part = { label: queryLabel, depth: graphQueryMaxDepth, nodes: graphMaxNodes }
      const data = await fetchGraphPart({ ...part, scope: graphScopeTag }, filter, signal)
      if (!compare || !graphScopeTag) return { data, hidden: NOTHING }
      const whole = await fetchGraphPart({ ...part, scope: null }, filter, signal)
      return { data: whole, hidden: unknownTo(whole, data) }
    },
  })
}
