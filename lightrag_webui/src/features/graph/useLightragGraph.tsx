import { useQuery } from '@tanstack/react-query'
import { listScopes, queryFilteredGraph, queryGraphs, searchLabels, type GraphResponse } from '@/api/lightrag'
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
  /** All that the scope knows, where that is compared with the whole. */
  known: GraphResponse | null
  /** Entities that the scope does not know, and relations. */
  hidden: ReadonlySet<string>
  hiddenEdges: ReadonlySet<string>
}

const NOTHING: ReadonlySet<string> = new Set()
/** More than any server gives; each has a limit of its own. */
const EVERYTHING = 1_000_000

/** Returns a graph as it is shown, beside what a scope knows where that is asked. */
export function showGraph(data: GraphResponse, known: GraphResponse | null): ShownGraph {
  return { data, known, ...(known ? unknownTo(data, known) : { hidden: NOTHING, hiddenEdges: NOTHING }) }
}

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
export function useLightragGraph(view: GraphView, enabled = true) {
  const { queryLabel, graphQueryMaxDepth, graphMaxNodes, graphScopeTag, filter, compare } = view
  const limits = { scope: graphScopeTag, filter: toPayload(filter), compare }
  return useQuery<ShownGraph>({
    queryKey: ['graph', limits, queryLabel, graphQueryMaxDepth, graphMaxNodes],
    // The graph before stays until the next is there, but never past a scope or filter: it may show what is to be hidden now.
    placeholderData: (before, query) => (JSON.stringify(query?.queryKey[1]) === JSON.stringify(limits) ? before : undefined),
    staleTime: 30_000,
    // Comparing thousands of entities with those before would take longer than drawing them.
    structuralSharing: false,
    enabled,
    queryFn: async ({ signal }): Promise<ShownGraph> => {
      const part = { label: queryLabel, depth: graphQueryMaxDepth, nodes: graphMaxNodes }
      if (!compare || !graphScopeTag) return showGraph(await fetchGraphPart({ ...part, scope: graphScopeTag }, filter, signal), null)
      // Against all that the scope knows: something may lie within two steps in the whole and further away, or beyond the largest, in the scope.
      const [whole, known] = await Promise.all([
        fetchGraphPart({ ...part, scope: null }, filter, signal),
        fetchGraphPart({ label: '*', depth: graphQueryMaxDepth, nodes: EVERYTHING, scope: graphScopeTag }, filter, signal),
      ])
      return showGraph(whole, known)
    },
  })
}

/** Names of entities with a part of the name, as far as scope and filter let them be seen. */
export async function searchNames(text: string, scope: string | null, filter: FilterState, signal?: AbortSignal): Promise<string[]> {
  const payload = toPayload(filter)
  const tags = scope ? [scope] : []
  if (Object.keys(payload).length === 0) return searchLabels(text, 20, tags)
  const [names, eligible] = await Promise.all([searchLabels(text, 100, tags), fetchGraphPart({ label: '*', depth: 0, nodes: EVERYTHING, scope }, filter, signal)])
  const seen = new Set(eligible.nodes.map((node) => node.id))
  if (!eligible.is_truncated) return names.filter((name) => seen.has(name)).slice(0, 20)
  // More is eligible than the server lists at once: what is not in the list is asked for by name.
  const checked = await Promise.all(names.slice(0, 20).map(async (name) => seen.has(name) || (await fetchGraphPart({ label: name, depth: 0, nodes: 1, scope }, filter, signal)).nodes.length > 0))
  return names.slice(0, 20).filter((_name, index) => checked[index])
}
