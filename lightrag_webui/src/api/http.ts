/** Requests to the server: address, credentials, errors, renewal of tokens. */

import { ROUTES, type Operations } from './generated'
import { session } from './session'

/** One fault that the server found in a request. */
export interface Fault {
  path: string
  message: string
}

/** `offline`: no answer at all; otherwise what the server said. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly faults: Fault[]
  readonly retryAfter: number | null

  constructor(message: string, options: { status?: number; code?: string; faults?: Fault[]; retryAfter?: number | null } = {}) {
    super(message)
    this.name = 'ApiError'
    this.status = options.status ?? 0
    this.code = options.code ?? ''
    this.faults = options.faults ?? []
    this.retryAfter = options.retryAfter ?? null
  }

  get isOffline(): boolean {
    return this.status === 0
  }

  /** Returns what was wrong with a field, named by the end of its path. */
  faultOf(field: string): string | undefined {
    return this.faults.find((fault) => fault.path === field || fault.path.startsWith(`${field}.`) || fault.path.endsWith(`.${field}`))?.message
  }
}

/** `refused`: a credential is not, or no longer, good; `offline`: nothing came back; `answered`: the server is there. */
export type Notice = 'refused' | 'offline' | 'answered'

const observers = new Set<(notice: Notice) => void>()

/** Tells of what requests find out about the server and the credentials, whoever sent them. */
export function onNotice(observer: (notice: Notice) => void): () => void {
  observers.add(observer)
  return () => observers.delete(observer)
}

function tell(notice: Notice): void {
  for (const observer of observers) observer(notice)
}

/** Makes an error of a request that got no answer. */
export function offlineError(): ApiError {
  tell('offline')
  return new ApiError('offline', { code: 'offline' })
}

/** Whoever asks these is looking after the credential already. */
const ABOUT_ACCESS: ReadonlySet<string> = new Set(['get_auth_status', 'login', 'verify_credential'])
const REFUSALS: ReadonlySet<string> = new Set(['invalid_token', 'login_required', 'invalid_key', 'key_required'])

/** Looks at what an answer says besides its content: a fresh token, a credential that is no longer good. */
export function heedAnswer(sentToken: string, freshToken: string | null, error: ApiError | null): void {
  if (freshToken) session.renew(sentToken, freshToken)
  tell(error && REFUSALS.has(error.code) ? 'refused' : 'answered')
}

/** The address that all routes begin with: the page itself lies below it, at `/webui/`. */
export function apiRoot(pathname: string = window.location.pathname): string {
  const at = pathname.lastIndexOf('/webui')
  return at > 0 ? pathname.slice(0, at) : ''
}

export function headersOf(extra?: HeadersInit): Headers {
  const headers = new Headers(extra)
  const { apiKey, token } = session.get()
  if (apiKey) headers.set('X-API-Key', apiKey)
  if (token) headers.set('Authorization', `Bearer ${token}`)
  return headers
}

interface RawFault {
  loc?: Array<string | number>
  msg?: string
}

function toFault(raw: RawFault): Fault {
  return {
    path: (raw.loc ?? []).filter((part) => part !== 'body' && part !== 'query').join('.'),
    message: (raw.msg ?? '').replace(/^Value error, /, ''),
  }
}

/** Reads faults from one line, `start_date: why; tags.3: why`, as the server writes those of a form. */
function readFaults(line: string): Fault[] {
  const parts = line.split(/; (?=[a-z_]+(?:\.\w+)*: )/).map((part) => /^([a-z_]+(?:\.\w+)*): (.+)$/s.exec(part))
  return parts.every((part) => part !== null) ? parts.map((part) => ({ path: part?.[1] ?? '', message: part?.[2] ?? '' })) : []
}

/** Turns the body of an error into words. */
export function toApiError(status: number, body: unknown, retryAfter: string | null = null): ApiError {
  const { detail, code, message } = (body ?? {}) as { detail?: unknown; code?: string; message?: string }
  const faults = Array.isArray(detail) ? (detail as RawFault[]).map(toFault) : status === 422 && typeof detail === 'string' ? readFaults(detail) : []
  const text = faults.length
    ? faults.map((one) => (one.path ? `${one.path}: ${one.message}` : one.message)).join('; ')
    : typeof detail === 'string'
      ? detail
      : (message ?? `HTTP ${status}`)
  const seconds = Number(retryAfter)
  return new ApiError(text, { status, code, faults, retryAfter: retryAfter && Number.isFinite(seconds) ? seconds : null })
}

export type OperationId = keyof Operations

export interface CallOptions<Id extends OperationId> {
  path?: Record<string, string>
  query?: Operations[Id]['query']
  body?: Operations[Id]['body']
  form?: FormData | URLSearchParams
  signal?: AbortSignal
}

export function addressOf(id: OperationId, path: Record<string, string> = {}, query?: object): string {
  const route = ROUTES[id].path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(path[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one != null) search.append(name, String(one))
    }
  }
  const text = search.toString()
  return `${apiRoot()}${route}${text ? `?${text}` : ''}`
}

/** Sends a request and returns the response of success; everything else is an {@link ApiError}. */
export async function send<Id extends OperationId>(id: Id, options: CallOptions<Id> = {}): Promise<Response> {
  const json = options.body === undefined ? undefined : JSON.stringify(options.body)
  const { token } = session.get()
  let response: Response
  try {
    response = await fetch(addressOf(id, options.path, options.query as object), {
      method: ROUTES[id].method,
      headers: headersOf(json ? { 'Content-Type': 'application/json' } : undefined),
      body: json ?? options.form ?? null,
      signal: options.signal ?? null,
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw offlineError()
  }
  const error = response.ok ? null : toApiError(response.status, await response.json().catch(() => null), response.headers.get('Retry-After'))
  heedAnswer(token, response.headers.get('X-New-Token'), ABOUT_ACCESS.has(id) ? null : error)
  if (error) throw error
  return response
}

export async function call<Id extends OperationId>(id: Id, options: CallOptions<Id> = {}): Promise<Operations[Id]['response']> {
  const response = await send(id, options)
  return (await response.json()) as Operations[Id]['response']
}
