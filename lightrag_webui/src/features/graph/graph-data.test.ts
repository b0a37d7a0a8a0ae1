import { expect, it, vi } from 'vitest'
import type { GraphResponse } from '@/api/lightrag'
import { emptyFilter } from '@/lib/filters'
import { buildGraph, evidenceOf, groupScopes, joinGraphs, legendOf, unknownTo } from './graph-data'
import { arrange } from './layout'
import { fetchGraphPart } from './useLightragGraph'

const node = (id: string, kind = 'person') => ({ id, labels: [id], properties: { entity_type: kind } })
const edge = (source: string, target: string) => ({ id: `${source}-${target}`, type: 'DIRECTED', source, target, properties: { weight: 2 } })
const graph = (names: string[], edges: Array<[string, string]> = []): GraphResponse => ({ nodes: names.map((one) => node(one)), edges: edges.map(([a, b]) => edge(a, b)), is_truncated: false })

it('draws every node once and every pair once, and nothing that hangs in the air', () => {
  const drawn = buildGraph(graph(['a', 'b', 'b'], [['a', 'b'], ['b', 'a'], ['a', 'a'], ['a', 'missing']]), '#ccc')
  expect([drawn.order, drawn.size]).toEqual([2, 1])
})

it('draws the same graph the same way, and keeps places', () => {
  const places = () => buildGraph(graph(['a', 'b']), '#ccc').export().nodes.map((one) => one.attributes?.x)
  expect(places()).toEqual(places())
  expect(buildGraph(graph(['a']), '#ccc', { a: { x: 7, y: 8 } }).getNodeAttribute('a', 'x')).toBe(7)
})

it('puts what stands alone around what is connected', () => {
  const drawn = buildGraph(graph(['a', 'b', 'c', 'x', 'y'], [['a', 'b'], ['b', 'c']]), '#ccc')
  arrange(drawn, 50)
  const place = (name: string) => drawn.getNodeAttributes(name)
  const widest = (axis: 'x' | 'y') => Math.max(...['a', 'b', 'c'].map((name) => Math.abs(place(name)[axis])))
  for (const name of ['x', 'y']) {
    const { x, y } = place(name)
    expect(Math.abs(x) > widest('x') || Math.abs(y) > widest('y')).toBe(true)
  }
})

it('counts kinds, the most frequent first', () => {
  expect(legendOf([node('a'), node('b', 'Place'), node('c', 'place'), node('d', '')]).map((one) => [one.kind, one.count])).toEqual([['place', 2], ['person', 1], ['unknown', 1]])
})

it('joins parts, and finds what a scope does not know yet', () => {
  const joined = joinGraphs(graph(['a', 'b'], [['a', 'b']]), graph(['b', 'c'], [['b', 'a'], ['b', 'c']]))
  expect([joined.nodes.length, joined.edges.length]).toEqual([3, 2])
  expect([...unknownTo(graph(['a', 'b', 'c']), graph(['b']))]).toEqual(['a', 'c'])
})

it('reads the documents behind an object', () => {
  expect(evidenceOf({ source_id: 'doc-1-chunk-000<SEP>doc-1-chunk-012<SEP>doc-2-chunk-001', description: 'x<SEP>y<SEP>x', file_path: 'a.md<SEP>b.md' })).toEqual({
    descriptions: ['x', 'y'], docIds: ['doc-1', 'doc-2'], paths: ['a.md', 'b.md'],
  })
  expect(evidenceOf({})).toEqual({ descriptions: [], docIds: [], paths: [] })
})

it('groups scopes by prefix', () => {
  expect(groupScopes(['lang:en', 'tenant:1', 'tenant:2'])).toEqual([{ prefix: 'lang:', scopes: ['lang:en'] }, { prefix: 'tenant:', scopes: ['tenant:1', 'tenant:2'] }])
})

it('asks for no part of the graph without the filter and the scope in force', async () => {
  const fetch = vi.fn(async (_address: string, _options: RequestInit) => new Response('{"nodes":[],"edges":[],"is_truncated":false}'))
  vi.stubGlobal('fetch', fetch)
  const part = { label: 'Ada', depth: 1, nodes: 200, scope: 'tenant:1' }
  await fetchGraphPart(part, emptyFilter('UTC'))
  await fetchGraphPart(part, { ...emptyFilter('UTC'), required: ['type:act'], forbidden: ['draft'] })
  vi.unstubAllGlobals()
  expect(fetch.mock.calls[0]?.[0]).toBe('/graphs?label=Ada&max_depth=1&max_nodes=200&required_tags=tenant%3A1')
  expect([fetch.mock.calls[1]?.[0], fetch.mock.calls[1]?.[1].method]).toEqual(['/graphs', 'POST'])
  expect(JSON.parse(String(fetch.mock.calls[1]?.[1].body))).toEqual({ label: 'Ada', max_depth: 1, max_nodes: 200, required_tags: ['type:act', 'tenant:1'], forbidden_tags: ['draft'] })
})
