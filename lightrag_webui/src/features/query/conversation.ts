/** A conversation, and how what the server sends changes it. Nothing here draws or asks. */

import type { Reference } from '@/api/lightrag'
import type { StreamLine } from '@/api/stream'

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
  return { id: crypto.randomUUID(), question, mode, filter, sent, at: Date.now(), state: 'running', step: '', answer: '', references: [], seconds: null, error: '' }
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

/** Puts a conversation first and drops the oldest; one that a closed page left running has stopped. */
export function keepConversation(all: readonly Conversation[], one: Conversation): Conversation[] {
  return [one, ...all.filter((other) => other.id !== one.id)].slice(0, MAX_CONVERSATIONS)
}

export function settled(conversation: Conversation): Conversation {
  return { ...conversation, messages: conversation.messages.map((one) => (one.state === 'running' ? { ...one, state: 'stopped' as const, step: '' } : one)) }
}
