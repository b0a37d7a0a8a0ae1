/** Groups of nodes that hang together more closely than with others. */

import type Graph from 'graphology'

const ROUNDS = 8

/**
 * Finds groups by asking every node which group most of its neighbours are in, a few times over.
 *
 * Nodes are asked in the order of their degree, and of groups with equal votes the one with the smaller name wins: the same graph
 * has the same groups every time.
 */
export function findGroups(graph: Graph<Record<string, unknown>>): Map<string, string> {
  const groups = new Map(graph.mapNodes((name) => [name, name] as const))
  const order = graph.nodes().sort((a, b) => graph.degree(a) - graph.degree(b) || (a < b ? -1 : 1))
  for (let round = 0; round < ROUNDS; round += 1) {
    let changed = 0
    for (const name of order) {
      const votes = new Map<string, number>()
      graph.forEachNeighbor(name, (neighbour) => {
        const group = groups.get(neighbour) ?? neighbour
        votes.set(group, (votes.get(group) ?? 0) + 1)
      })
      let best = groups.get(name) ?? name
      let most = votes.get(best) ?? 0
      for (const [group, count] of votes) {
        if (count > most || (count === most && group < best)) {
          best = group
          most = count
        }
      }
      if (best !== groups.get(name)) {
        groups.set(name, best)
        changed += 1
      }
    }
    if (!changed) break
  }
  return groups
}
