/** From what the server sends to a graph that can be drawn. Pure; colours and places are worked out here. */

import Graph from 'graphology'
import type { GraphEdge, GraphNode, GraphResponse } from '@/api/lightrag'

export const SEPARATOR = '<SEP>'

export interface NodeAttributes {
  label: string
  x: number
  y: number
  size: number
  color: string
  kind: string
  node: GraphNode
}

export interface EdgeAttributes {
  size: number
  color: string
  edge: GraphEdge
}

export type DrawnGraph = Graph<NodeAttributes, EdgeAttributes>

/** Kinds that are common have a colour of their own, the same in every view; amber is left to what a scope does not know. */
const COLORS: Record<string, string> = {
  person: '#0f8b8d', organization: '#4a86c5', location: '#7a63c8', place: '#7a63c8', event: '#d1495b', concept: '#b2679e', artifact: '#5a9e4b', object: '#5a9e4b', document: '#7d6a4f', date: '#94a9b3',
}
const FURTHER = ['#3c5a8c', '#8a4b6b', '#3f7d5a', '#a3557f', '#6b7a2f', '#5b5fa8']
export const OTHER_COLOR = '#a8b3b8'

export const kindOf = (node: GraphNode): string => {
  const kind = node.properties['entity_type']
  return typeof kind === 'string' && kind.trim() ? kind.trim().toLowerCase() : 'unknown'
}

/** Kinds of entities with counts, the most frequent first, each with its colour. */
export function legendOf(nodes: readonly GraphNode[]): Array<{ kind: string; count: number; color: string }> {
  const counts = new Map<string, number>()
  for (const node of nodes) counts.set(kindOf(node), (counts.get(kindOf(node)) ?? 0) + 1)
  return [...counts]
    .sort(([a, one], [b, other]) => other - one || a.localeCompare(b))
    .map(([kind, count]) => ({ kind, count, color: kind === 'unknown' ? OTHER_COLOR : (COLORS[kind] ?? FURTHER[Math.floor(seedOf(kind) * FURTHER.length)] ?? OTHER_COLOR) }))
}

/** A number from 0 to 1 that is always the same for a name: a graph that is drawn again looks the same. */
export function seedOf(text: string): number {
  let hash = 2166136261
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 16777619)
  return (hash >>> 0) / 4294967296
}

export interface Places {
  [name: string]: { x: number; y: number }
}

/** Builds the graph. Nodes that were drawn before stay where they were. */
export function buildGraph(data: GraphResponse, edgeColor: string, places: Places = {}): DrawnGraph {
  const graph: DrawnGraph = new Graph({ type: 'undirected', multi: false })
  const colors = new Map(legendOf(data.nodes).map((one) => [one.kind, one.color]))
  for (const node of data.nodes) {
    if (graph.hasNode(node.id)) continue
    const angle = seedOf(node.id) * 2 * Math.PI
    const radius = Math.sqrt(seedOf(`${node.id}/r`)) * Math.sqrt(data.nodes.length) * 10
    graph.addNode(node.id, {
      label: node.id,
      x: places[node.id]?.x ?? Math.cos(angle) * radius,
      y: places[node.id]?.y ?? Math.sin(angle) * radius,
      size: 4,
      kind: kindOf(node),
      color: colors.get(kindOf(node)) ?? OTHER_COLOR,
      node,
    })
  }
  for (const edge of data.edges) {
    if (edge.source === edge.target || !graph.hasNode(edge.source) || !graph.hasNode(edge.target) || graph.hasEdge(edge.source, edge.target)) continue
    const weight = Number(edge.properties['weight']) || 1
    graph.addEdge(edge.source, edge.target, { size: Math.min(4, 0.6 + Math.log2(1 + weight) * 0.5), color: edgeColor, edge })
  }
  placeNearKnown(graph, places)
  // In a full window so many discs leave about two thirds of the ground free.
  const scale = Math.min(1, Math.max(0.3, Math.sqrt(400 / Math.max(1, data.nodes.length)) * 1.1))
  graph.forEachNode((name) => graph.setNodeAttribute(name, 'size', scale * Math.min(20, 4 + 2.2 * Math.sqrt(graph.degree(name)))))
  return graph
}

/** What is new begins beside what it hangs on, where that was drawn before. */
function placeNearKnown(graph: DrawnGraph, places: Places): void {
  graph.forEachNode((name) => {
    if (name in places) return
    const neighbour = graph.findNeighbor(name, (other) => other in places)
    const place = neighbour === undefined ? undefined : places[neighbour]
    if (!place) return
    const angle = seedOf(name) * 2 * Math.PI
    graph.mergeNodeAttributes(name, { x: place.x + Math.cos(angle) * 30, y: place.y + Math.sin(angle) * 30 })
  })
}

/** Joins two parts of a graph; of the same object the newer is kept. */
export function joinGraphs(one: GraphResponse, other: GraphResponse): GraphResponse {
  const nodes = new Map([...one.nodes, ...other.nodes].map((node) => [node.id, node]))
  const edges = new Map([...one.edges, ...other.edges].map((edge) => [edgeKey(edge), edge]))
  return { ...one, nodes: [...nodes.values()], edges: [...edges.values()], is_truncated: one.is_truncated || other.is_truncated }
}

/** A name for the edge between two nodes, whichever comes first. */
export const edgeKey = ({ source, target }: { source: string; target: string }): string => (source < target ? `${source}\n${target}` : `${target}\n${source}`)

/** What the whole has and a scope does not know yet: names of entities, and keys of relations. */
export function unknownTo(whole: GraphResponse, scope: GraphResponse): { hidden: Set<string>; hiddenEdges: Set<string> } {
  const known = new Set(scope.nodes.map((node) => node.id))
  const knownEdges = new Set(scope.edges.map(edgeKey))
  return {
    hidden: new Set(whole.nodes.map((node) => node.id).filter((name) => !known.has(name))),
    hiddenEdges: new Set(whole.edges.map(edgeKey).filter((key) => !knownEdges.has(key))),
  }
}

const parts = (value: unknown): string[] => (typeof value === 'string' ? [...new Set(value.split(SEPARATOR).map((part) => part.trim()).filter(Boolean))] : [])

/** What an object is based on: its descriptions, the ids of its documents, and their paths. */
export function evidenceOf(properties: Record<string, unknown>): Evidence {
  const docIds = parts(properties['source_id']).map((chunk) => chunk.replace(/-chunk-\d+$/, ''))
  return { descriptions: parts(properties['description']), docIds: [...new Set(docIds)], paths: parts(properties['file_path']) }
}

export interface Evidence {
  descriptions: string[]
  docIds: string[]
  paths: string[]
}

/** What the whole says of an object beyond what a scope says of it. */
export function beyond(whole: Evidence, known: Evidence): Evidence {
  const without = (all: readonly string[], some: readonly string[]) => all.filter((one) => !some.includes(one))
  return { descriptions: without(whole.descriptions, known.descriptions), docIds: without(whole.docIds, known.docIds), paths: without(whole.paths, known.paths) }
}

/** Scopes by the prefix before their last colon. */
export function groupScopes(scopes: readonly string[]): Array<{ prefix: string; scopes: string[] }> {
  const groups = new Map<string, string[]>()
  for (const scope of scopes) {
    const prefix = scope.slice(0, scope.indexOf(':') + 1)
    groups.set(prefix, [...(groups.get(prefix) ?? []), scope])
  }
  return [...groups].map(([prefix, members]) => ({ prefix, scopes: members }))
}
