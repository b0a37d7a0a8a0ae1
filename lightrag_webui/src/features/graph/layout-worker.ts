/** Lays out large graphs beside the page, which stays free to be moved and clicked meanwhile. */

import { layoutSteps, type LayoutInput } from './layout-core'

/** Milliseconds between two pictures: drawing thousands of nodes anew takes time itself. */
const PAUSE = 1200

self.addEventListener('message', ({ data }: MessageEvent<LayoutInput>) => {
  let shown = 0
  let last: Float32Array | null = null
  for (const places of layoutSteps(data)) {
    last = places
    if (performance.now() - shown < PAUSE) continue
    shown = performance.now()
    last = null
    self.postMessage({ places, done: false })
  }
  self.postMessage({ places: last, done: true })
})
