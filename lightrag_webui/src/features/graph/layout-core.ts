/** Where nodes go. Pure: the same graph comes out the same way, in a worker or outside. */

import Graph from 'graphology'
import forceAtlas2 from 'graphology-layout-forceatlas2'
import noverlap from 'graphology-layout-noverlap'
import { findGroups } from './groups'

export interface LayoutInput {
  /** Ends of each edge, as indices of nodes, one pair after the other. */
  edges: Uint32Array
  sizes: Float32Array
  /** Where each node is now, x and y in turn. */
  places: Float32Array
  /** Whether these places mean something; then only a little moves. */
  known: boolean
  /** Whether the longer side goes down instead of across. */
  upright: boolean
  iterations: number
}

/** Iterations between two looks at what has come out so far. */
const STEP = 15
const MANY = 500
/** Radius of the connected part in the units in which nodes have their sizes: about the pixels of a window. */
const RADIUS = 330
const [SPACE_ACROSS, SPACE_DOWN] = [40, 30]

type Plain = Graph<{ x: number; y: number; size: number }, { weight: number }>

function settingsOf(graph: Plain) {
  const large = graph.order > MANY
  return {
    ...forceAtlas2.inferSettings(graph), barnesHutOptimize: large, barnesHutTheta: large ? 0.9 : 0.5,
    strongGravityMode: true, gravity: large ? 0.025 : 0.04, scalingRatio: 14, slowDown: 1 + Math.log10(graph.order + 1),
  }
}

/** Yields the places of all nodes, better each time; the last are to stay. */
export function* layoutSteps(input: LayoutInput): Generator<Float32Array> {
  const { graph, lonely } = connectedPart(input)
  const places = input.places.slice()
  const result = () => {
    const half = { x: 0, y: 0 }
    graph.forEachNode((name, { x, y }) => {
      places[2 * Number(name)] = x
      places[2 * Number(name) + 1] = y
      half.x = Math.max(half.x, Math.abs(x))
      half.y = Math.max(half.y, Math.abs(y))
    })
    placeBelow(places, lonely, half)
    return places.slice()
  }
  if (graph.order > 1) {
    const large = graph.order > MANY
    if (large && !input.known) seedByGroups(graph)
    for (let done = 0; done < input.iterations; done += STEP) {
      forceAtlas2.assign(graph, { iterations: Math.min(STEP, input.iterations - done), settings: settingsOf(graph) })
      if (large && done + STEP < input.iterations) {
        scale(graph, input.upright)
        yield result()
      }
    }
    scale(graph, input.upright)
    if (!large) noverlap.assign(graph, { maxIterations: 100, settings: { margin: 5, ratio: 1.15 } })
  }
  yield result()
}

function connectedPart({ edges, sizes, places }: LayoutInput): { graph: Plain; lonely: number[] } {
  const graph: Plain = new Graph({ type: 'undirected' })
  for (const index of new Set(edges)) graph.addNode(String(index), { x: places[2 * index] ?? 0, y: places[2 * index + 1] ?? 0, size: sizes[index] ?? 4 })
  for (let at = 0; at < edges.length; at += 2) graph.mergeEdge(String(edges[at]), String(edges[at + 1]), { weight: 1 })
  return { graph, lonely: [...sizes.keys()].filter((index) => !graph.hasNode(String(index))) }
}

/**
 * Begins with the large lines: groups of nodes that hang together are laid out as if each were one node, then their members go
 * around the middle of the group, the best connected inside. Forces alone would need minutes to untangle thousands of nodes.
 */
function seedByGroups(graph: Plain): void {
  const groups = findGroups(graph)
  const coarse: Plain = new Graph({ type: 'undirected' })
  const members = new Map<string, string[]>()
  for (const [name, group] of groups) members.set(group, [...(members.get(group) ?? []), name])
  let index = 0
  for (const [group, names] of members) {
    const angle = (index += 1) * GOLDEN
    coarse.addNode(group, { x: Math.cos(angle) * Math.sqrt(index) * 20, y: Math.sin(angle) * Math.sqrt(index) * 20, size: Math.sqrt(names.length) })
  }
  graph.forEachEdge((_edge, _attributes, source, target) => {
    const [a, b] = [groups.get(source) ?? '', groups.get(target) ?? '']
    if (a !== b) coarse.updateEdge(a, b, (edge) => ({ weight: (edge.weight ?? 0) + 1 }))
  })
  if (coarse.order > 1) {
    forceAtlas2.assign(coarse, { iterations: coarse.order > 1000 ? 60 : 250, settings: { ...settingsOf(coarse), adjustSizes: false, edgeWeightInfluence: 0.5, gravity: 0.06 }, getEdgeWeight: 'weight' })
    scale(coarse)
  }
  // Groups get the room that their members need.
  const room = Math.max(1, Math.sqrt(graph.order) / 12)
  for (const [group, names] of members) {
    const centre = coarse.getNodeAttributes(group)
    names.sort((a, b) => graph.degree(b) - graph.degree(a))
    names.forEach((name, place) => {
      const distance = Math.sqrt(place) * 4
      graph.mergeNodeAttributes(name, { x: centre.x * room + Math.cos(place * GOLDEN) * distance, y: centre.y * room + Math.sin(place * GOLDEN) * distance })
    })
  }
}

/** Turning by this angle from point to point fills a disc evenly. */
const GOLDEN = Math.PI * (3 - Math.sqrt(5))

/** Puts the middle of a graph at the origin, its longer side across or down, and most of its nodes within the radius. */
function scale(graph: Plain, upright = false): void {
  let [sumX, sumY] = [0, 0]
  graph.forEachNode((_name, { x, y }) => {
    sumX += x
    sumY += y
  })
  const [midX, midY] = [sumX / graph.order, sumY / graph.order]
  const distances = graph.mapNodes((_name, { x, y }) => Math.hypot(x - midX, y - midY)).sort((a, b) => a - b)
  const factor = (RADIUS * Math.max(1, Math.sqrt(graph.order / 400))) / (distances[Math.floor(distances.length * 0.9)] || 1)
  let [across, along, both] = [0, 0, 0]
  graph.forEachNode((_name, { x, y }) => {
    across += (x - midX) ** 2
    along += (y - midY) ** 2
    both += (x - midX) * (y - midY)
  })
  const angle = (upright ? Math.PI / 2 : 0) - Math.atan2(2 * both, across - along) / 2
  const [cos, sin] = [Math.cos(angle) * factor, Math.sin(angle) * factor]
  graph.updateEachNodeAttributes((_name, attributes) => {
    const [x, y] = [attributes.x - midX, attributes.y - midY]
    return { ...attributes, x: x * cos - y * sin, y: x * sin + y * cos }
  })
}

/** Puts what stands alone in rows below what is connected, where it takes no room away. */
function placeBelow(places: Float32Array, lonely: readonly number[], half: { x: number; y: number }): void {
  const fitting = Math.floor((2 * half.x) / SPACE_ACROSS)
  const room = Math.max(1, Math.min(lonely.length, Math.max(fitting, Math.ceil(Math.sqrt(lonely.length * 1.6)))))
  lonely.forEach((index, place) => {
    const row = Math.floor(place / room)
    const inRow = Math.min(room, lonely.length - row * room)
    places[2 * index] = ((place % room) - (inRow - 1) / 2) * SPACE_ACROSS
    places[2 * index + 1] = -half.y - (half.y ? 60 : 0) - row * SPACE_DOWN
  })
}
