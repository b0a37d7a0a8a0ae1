import { expect, it } from 'vitest'
import { scopeFault, scopePrefixes, scopesIn } from './scopes'

const health = (configuration: Record<string, unknown>) => ({ status: 'healthy', configuration })

it('knows the prefixes only of a server that keeps scopes', () => {
  expect(scopePrefixes(health({ scope_tag_prefixes: ['tenant:'], enable_kg_scope_materialization: true }))).toEqual(['tenant:'])
  expect(scopePrefixes(health({ scope_tag_prefixes: ['tenant:'], enable_kg_scope_materialization: false }))).toEqual([])
  expect(scopePrefixes(health({ scope_tag_prefixes: null, enable_kg_scope_materialization: true }))).toEqual([])
  expect(scopePrefixes(undefined)).toEqual([])
})

it('tells scopes from other tags, and what cannot go together', () => {
  const prefixes = ['tenant:', 'known-in-chapter:']
  expect(scopesIn(['tenant:1', 'patent', 'xtenant:2'], prefixes)).toEqual(['tenant:1'])
  expect(scopeFault(['tenant:1', 'patent'], ['draft'], prefixes)).toBeNull()
  expect(scopeFault(['tenant:1', 'known-in-chapter:03'], [], prefixes)).toBe('two')
  expect(scopeFault(['known-in-chapter:03'], ['known-in-chapter:04'], prefixes)).toBe('clash')
  expect(scopeFault([], ['tenant:1'], prefixes)).toBeNull()
})
