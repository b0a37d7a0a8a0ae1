import { afterEach, expect, it, vi } from 'vitest'
import { like, listOf, readStored } from '@/lib/stored'
import { newMessage } from './conversation'
import { keptConversations } from './kept'
import { asSettings, DEFAULT_SETTINGS } from './settings'

afterEach(() => {
  localStorage.clear()
  vi.unstubAllGlobals()
})

const GARBAGE = ['null', '5', '"x"', '{}', '[null]', '[{}]', '{bad', '[{"id":1,"title":5,"messages":[{}]}]', '[{"id":"a","title":"t","at":1,"messages":null}]', '[{"id":"a","title":"t","at":1e300,"messages":[]}]']

it.each(GARBAGE)('%s in the place of conversations is none', (text) => {
  localStorage.setItem('lightrag.conversations', text)
  expect(keptConversations()).toEqual([])
})

it('keeps the conversations that can be shown beside one that cannot', () => {
  const good = { id: 'a', title: 't', at: 1, messages: [newMessage('Who?', 'mix', '', '{}')] }
  localStorage.setItem('lightrag.conversations', JSON.stringify([null, good, { ...good, messages: [{ ...good.messages[0], references: [null] }] }]))
  expect(keptConversations()).toEqual([good])
})

it('fills settings of another type from the defaults, and forgets those that are not there', () => {
  for (const value of [null, 5, [], 'x']) expect(asSettings(value)).toEqual(DEFAULT_SETTINGS)
  expect(asSettings({ top_k: 'x', history_turns: {}, user_prompt: null, chunk_top_k: 7, stream: false, other: 1 })).toEqual({ ...DEFAULT_SETTINGS, chunk_top_k: 7, stream: false })
  expect(like({ title: '' })({ title: 5 })).toEqual({ title: '' })
})

it('reads a value once, so that it stays the same', () => {
  localStorage.setItem('list', '["a",5]')
  const reads = listOf((one): one is string => typeof one === 'string')
  expect(readStored('list', [], reads)).toEqual(['a'])
  expect(readStored('list', [], reads)).toBe(readStored('list', [], reads))
})

it('names messages on pages without HTTPS, where crypto has less', () => {
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) })
  const ids = [newMessage('a', 'mix', '', ''), newMessage('b', 'mix', '', '')].map((message) => message.id)
  expect(new Set(ids).size).toBe(2)
  expect(ids[0]).toMatch(/^[0-9a-f]{32}$/)
})
