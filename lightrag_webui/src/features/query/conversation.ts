/** A conversation, and how what the server sends changes it. Nothing here draws or asks. */

import type { Reference } from '@/api/lightrag'
import type { StreamLine } from '@/api/stream'
import { newId } from '@/lib/ids'

export interface Message {
  id: string
  question: string
  mode: string
  /** The filter in force, as in the address. */
  filter: string
  /** The request as it was sent, to be looked at. */
  sent: string
  at: number
  state: 'running' | 'done' | 'stopped' | 'failed'
  step: string
  answer: string
  references: Reference[]
  seconds: number | null
  error: string
}

export interface Conversation {
  id: string
  title: string
  at: number
  messages: Message[]
}

export const MAX_CONVERSATIONS = 50
export const NO_CONTEXT = '[no-context]'

export function newMessage(question: string, mode: string, filter: string, sent: string): Message {
  return { id: newId(), question, mode, filter, sent, at: Date.now(), state: 'running', step: '', answer: '', references: [], seconds: null, error: '' }
}

/** Returns a message after another line of the stream. */
export function applyLine(message: Message, line: StreamLine): Message {
  const next = { ...message }
  if (line.progress) next.step = line.progress
  if (line.references) next.references = line.references
  if (line.response) next.answer += line.response
  if (line.response_time !== undefined) next.seconds = line.response_time
  if (line.error) {
    next.error = line.error
    next.state = 'failed'
  }
  return next
}

/** The answer without the list of references at its end, which is shown apart, and whether anything was found. */
export function readAnswer(message: Message): { text: string; found: boolean } {
  const found = !message.answer.trimEnd().endsWith(NO_CONTEXT)
  const text = found ? message.answer : message.answer.trimEnd().slice(0, -NO_CONTEXT.length)
  if (!message.references.length) return { text: text.trim(), found }
  return { text: text.replace(/\n#{1,6}\s+(References|Sources)\s*\n[\s\S]*$/i, '').trim(), found }
}

/** Numbers of the references that an answer names. */
export function citedIds(answer: string): Set<string> {
  return new Set([...answer.matchAll(/\[(\d{1,4})\]/g)].map((match) => match[1] ?? ''))
}

/** Characters that the browser may keep: it has room for about five million, and other things are kept too. */
export const MAX_KEPT = 3_000_000

/**
 * Puts a conversation first and drops the oldest: beyond fifty, or beyond the room that there is.
 *
 * One without messages is dropped itself. Where even the newest is too large its passages go, for they can be fetched again.
 */
export function keepConversation(all: readonly Conversation[], one: Conversation): Conversation[] {
  const others = all.filter((other) => other.id !== one.id)
  if (!one.messages.length) return others
  const kept: Conversation[] = []
  let room = MAX_KEPT
  for (const next of [one, ...others].slice(0, MAX_CONVERSATIONS)) {
    const fits = JSON.stringify(next).length <= room ? next : kept.length ? null : withoutPassages(next)
    if (!fits) break
    kept.push(fits)
    room -= JSON.stringify(fits).length
  }
  return kept
}

function withoutPassages(one: Conversation): Conversation {
  return { ...one, messages: one.messages.map((message) => ({ ...message, references: message.references.map(({ content: _passages, ...reference }) => reference) })) }
}

/** A conversation as it is opened again; a message that a closed page left running has stopped. */
export function settled(conversation: Conversation): Conversation {
  return { ...conversation, messages: conversation.messages.map((one) => (one.state === 'running' ? { ...one, state: 'stopped' as const, step: '' } : one)) }
}
