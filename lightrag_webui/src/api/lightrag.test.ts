import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PRESETS, PRESET_NAMES, dateFilterOf, emptyFilter, filterFault, isActive, normalizeTag, presetOf, toPayload, withPreset, type FilterState } from '@/lib/filters'
import { addressOf, ApiError, apiRoot, call, onNotice, toApiError } from './http'
import { queryGraphs } from './lightrag'
import { readClaims, session } from './session'
import { LineCutter, readLines } from './stream'

const filter = (change: Partial<FilterState> = {}): FilterState => ({ ...emptyFilter('Europe/Amsterdam'), ...change })

describe('serialisation of filters', () => {
  it('sends nothing without a filter', () => {
    expect(toPayload(filter())).toEqual({})
    expect(isActive(filter())).toBe(false)
    expect('date_filter' in toPayload(filter({ required: ['a'] }))).toBe(false)
  })

  it('sends dates with the offset of the zone at that date, and the end of the last day', () => {
    expect(toPayload(filter({ from: '2024-03-01', to: '2024-03-31' }))).toEqual({
      date_filter: { range: { start: '2024-03-01T00:00:00+01:00', end: '2024-03-31T23:59:59.999+02:00' } },
    })
  })

  it('sends one bound alone', () => {
    expect(dateFilterOf(filter({ from: '2024-01-01' }))).toEqual({ range: { start: '2024-01-01T00:00:00+01:00' } })
    expect(dateFilterOf(filter({ to: '2024-01-01' }))).toEqual({ range: { end: '2024-01-01T23:59:59.999+01:00' } })
  })

  it('sends shape and undated without a range, and leaves the mode out where it has nothing to relate to', () => {
    expect(dateFilterOf(filter({ shape: 'bounded', rangeMode: 'contains' }))).toEqual({ shape: 'bounded' })
    expect(dateFilterOf(filter({ undated: 'include_or' }))).toEqual({ undated: 'include_or' })
    expect(dateFilterOf(filter({ undated: 'only', from: '2024-01-01', shape: 'bounded' }))).toEqual({ undated: 'only' })
  })

  it('sends tags, their mode only where it matters, and the graph switch only with forbidden tags', () => {
    expect(toPayload(filter({ required: ['newspaper', 'letter'], requiredMode: 'or' }))).toEqual({ required_tags: ['newspaper', 'letter'], required_tags_mode: 'or' })
    expect(toPayload(filter({ required: ['a'], requiredMode: 'or', applyForbiddenToKg: true }))).toEqual({ required_tags: ['a'] })
    expect(toPayload(filter({ forbidden: ['draft'], applyForbiddenToKg: true }))).toEqual({ forbidden_tags: ['draft'], apply_forbidden_tags_to_kg: true })
  })

  it('sends types, folders and changes of the source', () => {
    expect(toPayload(filter({ docTypes: ['act'], folders: ['archive/1931'], modifiedFrom: '2026-01-01', modifiedTo: '2026-06-30' }))).toEqual({
      doc_types: ['act'], path_prefixes: ['archive/1931'], modified_after: '2026-01-01T00:00:00+01:00', modified_before: '2026-06-30T23:59:59.999+02:00',
    })
  })

  it('finds bounds in the wrong order by instant', () => {
    expect(filterFault(filter({ from: '2024-02-01', to: '2024-01-31' }))).toBe('order')
    expect(filterFault(filter({ from: '2024-02-01', to: '2024-02-01' }))).toBeNull()
    expect(filterFault(filter({ modifiedFrom: '2024-02-01', modifiedTo: '2024-01-31' }))).toBe('modifiedOrder')
  })
})

describe('presets', () => {
  // The table of the specification, written out: the code must not be its own witness.
  const table = {
    broad_retrieval: ['overlap', 'any', 'exclude'], archive_discovery: ['overlap', 'any', 'include_or'], legislation_in_force: ['contains', 'has_start', 'exclude'],
    activity_in_period: ['overlap', 'has_start', 'exclude'], wholly_within_period: ['contained_by', 'has_start', 'exclude'], strict_catalog: ['overlap', 'bounded', 'exclude'],
  } as const

  it.each(Object.entries(table))('%s sets the three knobs', (name, [rangeMode, shape, undated]) => {
    const state = withPreset(filter({ from: '2010-01-01' }), name as keyof typeof table)
    expect([state.rangeMode, state.shape, state.undated]).toEqual([rangeMode, shape, undated])
    expect(presetOf(state)).toBe(name)
    expect(state.from).toBe('2010-01-01')
  })

  it('uncatalogued only asks for nothing but undated documents', () => {
    expect(toPayload(withPreset(filter({ from: '2010-01-01', to: '2012-01-01' }), 'uncatalogued_only'))).toEqual({ date_filter: { undated: 'only' } })
  })

  it('makes the payload of patents in force throughout 2010 to 2015', () => {
    const state = { ...withPreset(filter({ from: '2010-01-01', to: '2015-12-31', zone: 'UTC' }), 'legislation_in_force'), required: ['patent'] }
    expect(toPayload(state)).toEqual({
      date_filter: { range: { start: '2010-01-01T00:00:00+00:00', end: '2015-12-31T23:59:59.999+00:00' }, range_mode: 'contains', shape: 'has_start' },
      required_tags: ['patent'],
    })
  })

  it('knows every preset and when there is none', () => {
    expect(PRESET_NAMES).toHaveLength(7)
    expect(Object.keys(PRESETS).sort()).toEqual([...Object.keys(table), 'uncatalogued_only'].sort())
    expect(presetOf(filter({ shape: 'has_end' }))).toBeNull()
  })
})

it('gives tags the form that the server gives them', () => {
  expect(['Årsrapport', ' channel/ENG ', 'Tenant:1', 'a__b', '日本', 'Straße'].map(normalizeTag)).toEqual(['arsrapport', 'channel_eng', 'tenant:1', 'a_b', '', 'strasse'])
})

describe('requests', () => {
  beforeEach(() => session.set({ apiKey: '', token: '' }))
  afterEach(() => vi.unstubAllGlobals())
  const answer = (body: unknown, status = 200, headers: Record<string, string> = {}) => {
    const fetch = vi.fn(async (_address: string, _options: RequestInit) => new Response(JSON.stringify(body), { status, headers }))
    vi.stubGlobal('fetch', fetch)
    return fetch
  }

  it('finds the root below any prefix', () => {
    expect(apiRoot('/webui/')).toBe('')
    expect(apiRoot('/team/rag/webui/index.html')).toBe('/team/rag')
  })

  it('repeats parameters of lists and encodes parts of paths', () => {
    expect(addressOf('update_document_metadata', { doc_id: 'a/b c' })).toBe('/documents/a%2Fb%20c/metadata')
    expect(addressOf('get_knowledge_graph', {}, { label: '*', required_tags: ['a:1', 'b'] })).toBe('/graphs?label=*&required_tags=a%3A1&required_tags=b')
  })

  it('asks for the graph of a scope by its tag, and for the whole without one', async () => {
    const fetch = answer({ nodes: [], edges: [], is_truncated: false })
    await queryGraphs('IKEA', 2, 100, ['tenant:1'])
    await queryGraphs('IKEA', 2, 100)
    expect(fetch.mock.calls.map((one) => one[0])).toEqual(['/graphs?label=IKEA&max_depth=2&max_nodes=100&required_tags=tenant%3A1', '/graphs?label=IKEA&max_depth=2&max_nodes=100'])
  })

  it('sends key and token as headers, and keeps a token that the server renews', async () => {
    session.set({ apiKey: 'k', token: 'old' })
    const fetch = answer({ status: 'ok' }, 200, { 'X-New-Token': 'new' })
    await call('verify_credential')
    const headers = fetch.mock.calls[0]?.[1].headers as Headers
    expect([headers.get('X-API-Key'), headers.get('Authorization')]).toEqual(['k', 'Bearer old'])
    expect(session.get().token).toBe('new')
  })

  it('takes no fresh token once the one that was sent is gone: who has signed out stays out', async () => {
    session.set({ token: 'old' })
    vi.stubGlobal('fetch', vi.fn(async () => {
      session.set({ token: '' })
      return new Response('{}', { headers: { 'X-New-Token': 'new' } })
    }))
    await call('verify_credential')
    expect(session.get().token).toBe('')
  })

  it('follows who signs in or out in another tab', () => {
    localStorage.setItem('lightrag.token', 'theirs')
    window.dispatchEvent(new StorageEvent('storage', { key: 'lightrag.token', newValue: 'theirs' }))
    expect(session.get().token).toBe('theirs')
  })

  it('tells whoever listens when a credential is refused or nothing answers', async () => {
    const notices: string[] = []
    const stop = onNotice((notice) => notices.push(notice))
    for (const [body, status] of [[{}, 200], [{ detail: 'x', code: 'invalid_token' }, 401], [{ detail: 'x', code: 'access_denied' }, 403], [{ detail: 'x', code: 'wrong_credentials' }, 401]] as const) {
      answer(body, status)
      await call('get_health').catch(() => null)
    }
    answer({ detail: 'x', code: 'invalid_token' }, 401)
    await call('verify_credential').catch(() => null)
    vi.stubGlobal('fetch', vi.fn(async () => { throw new TypeError('failed') }))
    await call('get_health').catch(() => null)
    stop()
    expect(notices).toEqual(['answered', 'refused', 'answered', 'answered', 'answered', 'offline'])
  })

  it('reads the faults of a form from their line, and leaves other lines alone', () => {
    const error = toApiError(422, { detail: "start_date: Date must include a timezone offset or Z; send one; tags.1: '!!!' has no usable character", code: 'invalid_filter' })
    expect([error.faultOf('start_date'), error.faultOf('tags'), error.faultOf('meta')]).toEqual(['Date must include a timezone offset or Z; send one', "'!!!' has no usable character", undefined])
    expect(toApiError(422, { detail: "unknown form field 'x'; did you mean 'file'?" }).faults).toEqual([])
    expect(toApiError(409, { detail: 'file: there is one already' }).faults).toEqual([])
  })

  it('tells faults by their field', async () => {
    answer({ detail: [{ loc: ['body', 'metadata', 'start_date'], msg: 'Value error, Date must include a timezone offset or Z' }], code: 'validation_error' }, 422)
    const error = (await call('get_health').catch((one: unknown) => one)) as ApiError
    expect(error).toBeInstanceOf(ApiError)
    expect([error.status, error.code, error.faultOf('start_date')]).toEqual([422, 'validation_error', 'Date must include a timezone offset or Z'])
    expect(error.faultOf('end_date')).toBeUndefined()
  })

  it('tells when nothing answers, and how long to wait', async () => {
    vi.stubGlobal('fetch', vi.fn(async () => { throw new TypeError('failed') }))
    expect(((await call('get_health').catch((one: unknown) => one)) as ApiError).isOffline).toBe(true)
    expect(toApiError(429, { detail: 'wait', code: 'busy' }, '30').retryAfter).toBe(30)
    expect(toApiError(500, null).message).toBe('HTTP 500')
  })

  it('reads what a token says of itself', () => {
    const token = `x.${btoa(JSON.stringify({ sub: 'ada', role: 'user' }))}.y`
    expect(readClaims(token)).toMatchObject({ sub: 'ada', role: 'user' })
    expect(readClaims('nonsense')).toBeNull()
  })
})

describe('the stream', () => {
  it('cuts lines however the pieces fall', () => {
    const cutter = new LineCutter()
    expect([cutter.push('{"a":'), cutter.push('1}\n{"b":2}\n\n{"c"'), cutter.push(':3}'), cutter.end(), cutter.end()]).toEqual([[], ['{"a":1}', '{"b":2}'], [], ['{"c":3}'], []])
  })

  it('keeps characters whole that arrive in two pieces', async () => {
    const bytes = new TextEncoder().encode('{"response":"é漢😀"}\n')
    const response = new Response(new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    }))
    const lines = []
    for await (const line of readLines(response)) lines.push(line)
    expect(lines).toEqual([{ response: 'é漢😀' }])
  })
})
