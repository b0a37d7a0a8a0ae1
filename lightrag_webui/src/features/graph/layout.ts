/** Where nodes go: forces for a while, in a worker where there are many, then nothing moves any more. */

import forceAtlas2 from 'graphology-layout-forceatlas2'
import FA2Layout from 'graphology-layout-forceatlas2/worker'
import noverlap from 'graphology-layout-noverlap'
import type { DrawnGraph } from './graph-data'

const MANY = 500

function settingsOf(graph: DrawnGraph) {
  return { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: graph.order > MANY, gravity: 0.6, scalingRatio: 12, slowDown: 4, adjustSizes: graph.order <= MANY }
}

/** Lays a graph out and returns what stops it. With known places only a little moves. */
export function startLayout(graph: DrawnGraph, known: boolean): () => void {
  if (graph.order < 2) return () => undefined
  const settings = settingsOf(graph)
  if (graph.order <= MANY) {
    forceAtlas2.assign(graph, { iterations: known ? 60 : 300, settings })
    noverlap.assign(graph, { maxIterations: 80, settings: { margin: 4, ratio: 1.2 } })
    return () => undefined
  }
  const worker = new FA2Layout(graph, { settings })
  worker.start()
  // Large graphs find their form in the first seconds; after that moving nodes only disturb.
  const timer = setTimeout(() => worker.stop(), known ? 2500 : Math.min(15_000, 4000 + graph.order))
  return () => {
    clearTimeout(timer)
    worker.kill()
  }
}
