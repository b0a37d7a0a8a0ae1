/** Where nodes go: forces for a while, in a worker where there are many, then nothing moves any more. */

import forceAtlas2 from 'graphology-layout-forceatlas2'
import FA2Layout from 'graphology-layout-forceatlas2/worker'
import noverlap from 'graphology-layout-noverlap'
import type { DrawnGraph } from './graph-data'

const MANY = 500
/** Radius of the connected part in the units in which nodes have their sizes: about the pixels of a window. */
const RADIUS = 330

function settingsOf(graph: DrawnGraph) {
  return { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: graph.order > MANY, strongGravityMode: true, gravity: 0.04, scalingRatio: 14, slowDown: 1 + Math.log10(graph.order + 1) }
}

/** Lays a graph out and returns what stops it. With known places only a little moves. */
export function startLayout(graph: DrawnGraph, known: boolean): () => void {
  if (graph.order < 2) return () => undefined
  if (graph.order <= MANY) {
    arrange(graph, known ? 150 : 700)
    return () => undefined
  }
  const worker = new FA2Layout(graph, { settings: settingsOf(graph) })
  worker.start()
  // Large graphs find their form in the first seconds; after that moving nodes only disturb.
  const timer = setTimeout(() => worker.stop(), known ? 2500 : Math.min(15_000, 4000 + graph.order))
  return () => {
    clearTimeout(timer)
    worker.kill()
  }
}

/** Forces for what is connected; what stands alone goes around it, where it takes no room away. */
export function arrange(graph: DrawnGraph, iterations: number): void {
  const lonely = graph.filterNodes((name) => graph.degree(name) === 0)
  const connected = graph.copy() as DrawnGraph
  for (const name of lonely) connected.dropNode(name)
  if (connected.order > 1) {
    forceAtlas2.assign(connected, { iterations, settings: settingsOf(connected) })
    scale(connected)
    noverlap.assign(connected, { maxIterations: 100, settings: { margin: 5, ratio: 1.15 } })
  }
  const half = { x: 0, y: 0 }
  connected.forEachNode((name, { x, y }) => {
    graph.mergeNodeAttributes(name, { x, y })
    half.x = Math.max(half.x, Math.abs(x))
    half.y = Math.max(half.y, Math.abs(y))
  })
  placeAround(graph, lonely, half)
}

/** Puts the middle of a graph at the origin, its longer side across, and most of its nodes within the radius. */
function scale(graph: DrawnGraph): void {
  let [sumX, sumY] = [0, 0]
  graph.forEachNode((_name, { x, y }) => {
    sumX += x
    sumY += y
  })
  const [midX, midY] = [sumX / graph.order, sumY / graph.order]
  const distances = graph.mapNodes((_name, { x, y }) => Math.hypot(x - midX, y - midY)).sort((a, b) => a - b)
  const factor = RADIUS / (distances[Math.floor(distances.length * 0.9)] || 1)
  let [across, along, both] = [0, 0, 0]
  graph.forEachNode((_name, { x, y }) => {
    across += (x - midX) ** 2
    along += (y - midY) ** 2
    both += (x - midX) * (y - midY)
  })
  const angle = -Math.atan2(2 * both, across - along) / 2
  const [cos, sin] = [Math.cos(angle) * factor, Math.sin(angle) * factor]
  graph.updateEachNodeAttributes((_name, attributes) => {
    const [x, y] = [attributes.x - midX, attributes.y - midY]
    return { ...attributes, x: x * cos - y * sin, y: x * sin + y * cos }
  })
}

const SPACE = 26

/** Puts nodes on ellipses around the rectangle with these half sides. */
function placeAround(graph: DrawnGraph, names: string[], half: { x: number; y: number }): void {
  const sorted = [...names].sort((a, b) => graph.getNodeAttribute(a, 'kind').localeCompare(graph.getNodeAttribute(b, 'kind')) || a.localeCompare(b))
  // An ellipse holds a rectangle when its axes are longer by the root of two; a little less is enough for what is round itself.
  let [across, down] = half.x ? [half.x * 1.25 + SPACE, half.y * 1.25 + SPACE] : [SPACE, SPACE]
  for (let placed = 0; placed < sorted.length; across += SPACE, down += SPACE) {
    const room = Math.max(6, Math.floor((Math.PI * (across + down)) / SPACE))
    const ring = sorted.slice(placed, placed + room)
    ring.forEach((name, index) => {
      const angle = (index / ring.length) * 2 * Math.PI
      graph.mergeNodeAttributes(name, { x: Math.cos(angle) * across, y: Math.sin(angle) * down })
    })
    placed += ring.length
  }
}
