/** Which tags are scopes: they choose whose knowledge is looked at, where others only choose documents. */

import type { Health } from '@/api/lightrag'

/** Returns the prefixes of scope tags that the server was set up with; none where it keeps no scopes. */
export function scopePrefixes(health: Health | undefined): string[] {
  const settings = health?.configuration ?? {}
  const prefixes = settings['scope_tag_prefixes']
  return settings['enable_kg_scope_materialization'] === true && Array.isArray(prefixes) ? prefixes.filter((one) => typeof one === 'string') : []
}

export function scopesIn(tags: readonly string[], prefixes: readonly string[]): string[] {
  return tags.filter((tag) => prefixes.some((prefix) => tag.startsWith(prefix)))
}

/**
 * What is wrong with a choice of tags as far as scopes go.
 *
 * `two`: knowledge is that of one scope at the most. `clash`: a scope is required and another one forbidden; where documents carry
 * several scopes that contradicts itself.
 */
export function scopeFault(required: readonly string[], forbidden: readonly string[], prefixes: readonly string[]): 'two' | 'clash' | null {
  const wanted = scopesIn(required, prefixes).length
  if (wanted > 1) return 'two'
  return wanted && scopesIn(forbidden, prefixes).length ? 'clash' : null
}
