import Graph from 'graphology'
import { describe, expect, it } from 'vitest'
import { findGroups } from './groups'
import { placeLabels, type LabelWish } from './labels'
import { layoutSteps } from './layout-core'

/** Clusters of equal size that hang together by single edges. */
function clusters(count: number, size: number): Uint32Array {
  const pairs: number[] = []
  for (let cluster = 0; cluster < count; cluster += 1) {
    const first = cluster * size
    for (let member = 1; member < size; member += 1) pairs.push(first, first + member, first + member, first + 1 + ((member * 7) % (size - 1)))
    if (cluster) pairs.push(first, first - size)
  }
  return Uint32Array.from(pairs)
}

const input = (edges: Uint32Array, order: number, iterations: number) => ({ edges, sizes: new Float32Array(order).fill(4), places: Float32Array.from({ length: order * 2 }, (_none, index) => Math.sin(index * 7.1) * 300), known: false, upright: false, iterations })

describe('the layout of a large graph', () => {
  const [count, size] = [40, 25]
  const steps = [...layoutSteps(input(clusters(count, size), count * size, 60))]
  const places = steps.at(-1) ?? new Float32Array()
  const distance = (a: number, b: number) => Math.hypot((places[2 * a] ?? 0) - (places[2 * b] ?? 0), (places[2 * a + 1] ?? 0) - (places[2 * b + 1] ?? 0))

  it('shows something on the way, and every node has a place', () => {
    expect(steps.length).toBeGreaterThan(2)
    expect([...places].every(Number.isFinite)).toBe(true)
  })

  it('puts together what hangs together', () => {
    let [inside, outside] = [0, 0]
    for (let cluster = 0; cluster < count; cluster += 1) {
      inside += distance(cluster * size, cluster * size + 7)
      outside += distance(cluster * size, ((cluster + count / 2) % count) * size + 7)
    }
    expect(inside * 4).toBeLessThan(outside)
  })

  it('comes out the same way every time', () => {
    const again = [...layoutSteps(input(clusters(count, size), count * size, 60))].at(-1)
    expect(again).toEqual(places)
  })
})

it('lies across or stands upright, as there is room', () => {
  const edges = clusters(2, 12)
  const extent = (upright: boolean) => {
    const places = [...layoutSteps({ ...input(edges, 24, 300), upright })].at(-1) ?? []
    const span = (axis: number) => Math.max(...[...places].filter((_value, index) => index % 2 === axis)) - Math.min(...[...places].filter((_value, index) => index % 2 === axis))
    return span(0) / span(1)
  }
  expect(extent(false)).toBeGreaterThan(1.1)
  expect(extent(true)).toBeLessThan(1 / 1.1)
})

it('finds the groups that a graph falls into', () => {
  const graph = new Graph({ type: 'undirected' })
  for (const [a, b] of [['a', 'b'], ['b', 'c'], ['a', 'c'], ['x', 'y'], ['y', 'z'], ['x', 'z'], ['c', 'x']]) graph.mergeEdge(a, b)
  const groups = findGroups(graph)
  expect(groups.get('a')).toBe(groups.get('b'))
  expect(groups.get('y')).toBe(groups.get('z'))
  expect(groups.get('a')).not.toBe(groups.get('y'))
})

describe('names', () => {
  const wish = (text: string, x: number, y: number, radius = 5, forced = false): LabelWish => ({ text, x, y, radius, width: 60, height: 16, forced })

  it('never cover each other, and those of large nodes come first', () => {
    const placed = placeLabels(Array.from({ length: 60 }, (_none, index) => wish(`n${index}`, (index % 10) * 25, Math.floor(index / 10) * 9, index === 33 ? 9 : 4)))
    expect(placed[0]?.text).toBe('n33')
    expect(placed.length).toBeGreaterThan(5)
    expect(placed.length).toBeLessThan(60)
    for (const one of placed) for (const other of placed) if (one !== other) expect(Math.abs(one.left - other.left) >= 60 || Math.abs(one.base - other.base) >= 15.9, `${one.text} ${other.text}`).toBe(true)
  })

  it('go to the other side where there is no room, or are left out unless forced', () => {
    const [first, second] = placeLabels([wish('a', 200, 0, 6), wish('b', 240, 0, 5)])
    expect(first?.left).toBeLessThan(200)
    expect(second?.left).toBeGreaterThan(240)
    // Beside the edge of the picture too.
    expect(placeLabels([wish('e', 190, 50)], 200)[0]?.left).toBeLessThan(190 - 60)
    const crowd = Array.from({ length: 8 }, (_none, index) => wish(`c${index}`, index, 0))
    expect(placeLabels(crowd).length).toBeLessThan(8)
    expect(placeLabels([...crowd, wish('must', 4, 0, 1, true)]).map((one) => one.text)).toContain('must')
  })
})
