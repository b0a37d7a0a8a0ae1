import { expect, it, vi } from 'vitest'
import type { GraphResponse } from '@/api/lightrag'
import { emptyFilter } from '@/lib/filters'
import { beyond, buildGraph, evidenceOf, groupScopes, joinGraphs, legendOf, unknownTo } from './graph-data'
import { arrange } from './layout'
import { fetchGraphPart, searchNames, showGraph } from './useLightragGraph'

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

it('puts what stands alone below what is connected, in rows', () => {
  const drawn = buildGraph(graph(['a', 'b', 'c', 'x', 'y'], [['a', 'b'], ['b', 'c']]), '#ccc')
  arrange(drawn, 50)
  const place = (name: string) => drawn.getNodeAttributes(name)
  const lowest = Math.min(...['a', 'b', 'c'].map((name) => place(name).y))
  for (const name of ['x', 'y']) expect(place(name).y).toBeLessThan(lowest)
  expect(place('x').y).toBe(place('y').y)
  expect(place('x').x).not.toBe(place('y').x)
})

it('counts kinds, the most frequent first', () => {
  expect(legendOf([node('a'), node('b', 'Place'), node('c', 'place'), node('d', '')]).map((one) => [one.kind, one.count])).toEqual([['place', 2], ['person', 1], ['unknown', 1]])
})

it('joins parts, and finds what a scope does not know yet', () => {
  const joined = joinGraphs(graph(['a', 'b'], [['a', 'b']]), graph(['b', 'c'], [['b', 'a'], ['b', 'c']]))
  expect([joined.nodes.length, joined.edges.length]).toEqual([3, 2])
  const whole = graph(['a', 'b', 'c'], [['a', 'b'], ['b', 'c'], ['a', 'c']])
  const unknown = unknownTo(whole, graph(['b', 'c', 'x'], [['x', 'b']]))
  expect([...unknown.hidden]).toEqual(['a'])
  // Both ends of b–c are known, what is between them is not.
  expect([...unknown.hiddenEdges].sort()).toEqual(['a\nb', 'a\nc', 'b\nc'])
  expect([...unknownTo(whole, graph(['a', 'b', 'c'], [['b', 'a'], ['c', 'b'], ['c', 'a']])).hiddenEdges]).toEqual([])
})

it('reads the documents behind an object', () => {
  expect(evidenceOf({ source_id: 'doc-1-chunk-000<SEP>doc-1-chunk-012<SEP>doc-2-chunk-001', description: 'x<SEP>y<SEP>x', file_path: 'a.md<SEP>b.md' })).toEqual({
    descriptions: ['x', 'y'], docIds: ['doc-1', 'doc-2'], paths: ['a.md', 'b.md'],
  })
  expect(evidenceOf({})).toEqual({ descriptions: [], docIds: [], paths: [] })
})

it('tells what the whole says beyond a scope', () => {
  const whole = { descriptions: ['x', 'y'], docIds: ['doc-1', 'doc-2'], paths: ['a', 'b'] }
  expect(beyond(whole, { descriptions: ['x'], docIds: ['doc-1'], paths: ['a'] })).toEqual({ descriptions: ['y'], docIds: ['doc-2'], paths: ['b'] })
  expect(beyond(whole, whole)).toEqual({ descriptions: [], docIds: [], paths: [] })
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

it('offers in a search only what a filter lets be seen', async () => {
  const all = ['Ada', 'Adam', 'Adana']
  const sent: Array<[string, unknown]> = []
  let truncated = false
  vi.stubGlobal('fetch', async (address: string, options: RequestInit) => {
    const body = options.body ? (JSON.parse(String(options.body)) as { label: string }) : null
    sent.push([address, body])
    if (address.startsWith('/graph/label/search')) return Response.json(all)
    const names = body?.label === '*' ? (truncated ? ['Ada'] : ['Ada', 'Adana', 'Other']) : ['Adam'].filter((name) => name === body?.label)
    return Response.json({ ...graph(names), is_truncated: truncated })
  })
  const filter = { ...emptyFilter('UTC'), required: ['type:act'] }
  expect(await searchNames('ada', null, emptyFilter('UTC'))).toEqual(all)
  expect(await searchNames('ada', 'tenant:1', filter)).toEqual(['Ada', 'Adana'])
  expect(sent.find(([address]) => address === '/graphs')?.[1]).toMatchObject({ label: '*', required_tags: ['type:act', 'tenant:1'] })
  truncated = true
  expect(await searchNames('ada', null, filter)).toEqual(['Ada', 'Adam'])
  vi.unstubAllGlobals()
})

it('keeps what is unknown in sight when a comparison grows', () => {
  const known = graph(['a'])
  expect([...showGraph(graph(['a', 'b']), known).hidden]).toEqual(['b'])
  expect([...showGraph(joinGraphs(graph(['a', 'b']), graph(['b', 'c'])), known).hidden]).toEqual(['b', 'c'])
  expect(showGraph(graph(['a']), null).hidden.size).toBe(0)
})
