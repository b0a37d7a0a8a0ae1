/** Lays out the graph that is drawn: small ones at once, large ones in a worker. */

import type { DrawnGraph } from './graph-data'
import { layoutSteps, type LayoutInput } from './layout-core'

const MANY = 500

/** How often forces act: small graphs come to rest, large ones take a few seconds. */
function iterationsOf(order: number, known: boolean): number {
  if (order <= MANY) return known ? 150 : 700
  if (known) return 30
  return order <= 3000 ? 240 : 120
}

export interface LayoutOptions {
  /** Whether the places that nodes have mean something; then only a little moves. */
  known: boolean
  /** Whether there is more room down than across. */
  upright?: boolean
}

function inputOf(graph: DrawnGraph, names: readonly string[], { known, upright = false }: LayoutOptions, iterations: number): LayoutInput {
  const index = new Map(names.map((name, place) => [name, place]))
  const edges = new Uint32Array(graph.size * 2)
  let at = 0
  graph.forEachEdge((_edge, _attributes, source, target) => {
    edges[at] = index.get(source) ?? 0
    edges[at + 1] = index.get(target) ?? 0
    at += 2
  })
  const sizes = Float32Array.from(names, (name) => graph.getNodeAttribute(name, 'size'))
  const places = Float32Array.from(names.flatMap((name) => [graph.getNodeAttribute(name, 'x'), graph.getNodeAttribute(name, 'y')]))
  return { edges, sizes, places, known, upright, iterations }
}

/** Names by kind: what stands alone is put in rows in this order. */
function sortedNames(graph: DrawnGraph): string[] {
  return graph.nodes().sort((a, b) => graph.getNodeAttribute(a, 'kind').localeCompare(graph.getNodeAttribute(b, 'kind')) || (a < b ? -1 : 1))
}

function apply(graph: DrawnGraph, names: readonly string[], places: Float32Array): void {
  const index = new Map(names.map((name, place) => [name, place]))
  graph.updateEachNodeAttributes(
    (name, attributes) => {
      const at = 2 * (index.get(name) ?? 0)
      return { ...attributes, x: places[at] ?? attributes.x, y: places[at + 1] ?? attributes.y }
    },
    { attributes: ['x', 'y'] },
  )
}

/** Lays a graph out at once. */
export function arrange(graph: DrawnGraph, iterations: number, options: LayoutOptions = { known: false }): void {
  const names = sortedNames(graph)
  let last: Float32Array | null = null
  for (const places of layoutSteps(inputOf(graph, names, options, iterations))) last = places
  if (last) apply(graph, names, last)
}

/** Lays a graph out and returns what stops it. */
export function startLayout(graph: DrawnGraph, options: LayoutOptions, onDone: () => void = () => undefined): () => void {
  const iterations = iterationsOf(graph.order, options.known)
  if (graph.order <= MANY) {
    arrange(graph, iterations, options)
    onDone()
    return () => undefined
  }
  const names = sortedNames(graph)
  const worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' })
  worker.addEventListener('message', ({ data }: MessageEvent<{ places: Float32Array | null; done: boolean }>) => {
    if (data.places) apply(graph, names, data.places)
    if (!data.done) return
    worker.terminate()
    onDone()
  })
  worker.postMessage(inputOf(graph, names, options, iterations))
  return () => worker.terminate()
}
