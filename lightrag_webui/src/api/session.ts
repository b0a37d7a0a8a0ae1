/** Credentials of this browser: the API key, and the token of a login. Both leave it only as headers of requests. */

export interface Session {
  apiKey: string
  token: string
}

const KEY = 'lightrag.apiKey'
const TOKEN = 'lightrag.token'
const listeners = new Set<() => void>()

function read(name: string): string {
  try {
    return localStorage.getItem(name) ?? ''
  } catch {
    return ''
  }
}

let current: Session = { apiKey: read(KEY), token: read(TOKEN) }

function tell(): void {
  for (const listener of listeners) listener()
}

// Who signs in or out in one tab does so in all.
window.addEventListener('storage', (event) => {
  if (event.key !== KEY && event.key !== TOKEN && event.key !== null) return
  current = { apiKey: read(KEY), token: read(TOKEN) }
  tell()
})

export const session = {
  get: (): Session => current,
  set(change: Partial<Session>): void {
    current = { ...current, ...change }
    try {
      for (const [name, value] of [[KEY, current.apiKey], [TOKEN, current.token]] as const) {
        if (value) localStorage.setItem(name, value)
        else localStorage.removeItem(name)
      }
    } catch {
      // Without storage the session lasts as long as the page.
    }
    tell()
  },
  /** Keeps a fresh token in place of the one that was sent; an answer that comes after signing out changes nothing. */
  renew(sent: string, fresh: string): void {
    if (sent && current.token === sent) session.set({ token: fresh })
  },
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

export interface TokenClaims {
  sub?: string
  exp?: number
  role?: string
}

/** Reads what a token says of itself; nothing is verified, that is the server's part. */
export function readClaims(token: string): TokenClaims | null {
  const part = token.split('.')[1]
  if (!part) return null
  try {
    const bytes = Uint8Array.from(atob(part.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
    return JSON.parse(new TextDecoder().decode(bytes)) as TokenClaims
  } catch {
    return null
  }
}

/** Returns a short mark of a text, from which it cannot be read. */
function markOf(text: string): string {
  let mark = 5381
  for (const character of text) mark = (mark * 33 + (character.codePointAt(0) ?? 0)) % 0xfffffb
  return mark.toString(36)
}

/** Tells one person's credentials from another's; empty without any. */
export function holderOf({ apiKey, token }: Session): string {
  return [apiKey && `key-${markOf(apiKey)}`, readClaims(token)?.sub].filter(Boolean).join(' ')
}
