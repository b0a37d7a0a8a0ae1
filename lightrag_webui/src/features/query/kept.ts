/** Conversations that this browser keeps. Other versions of the page, or a hand, may have written what cannot be shown. */

import { holderOf, session } from '@/api/session'
import { isRecord, listOf, readStored } from '@/lib/stored'
import type { Conversation, Message } from './conversation'

/** Returns where the conversations of whoever uses the page now are kept: those of others are not theirs to see. */
export function conversationsName(): string {
  const holder = holderOf(session.get())
  return `lightrag.conversations${holder ? `.${holder}` : ''}`
}

const TEXTS = ['id', 'question', 'mode', 'filter', 'sent', 'state', 'step', 'answer', 'error'] as const satisfies ReadonlyArray<keyof Message>

const isMoment = (value: unknown) => typeof value === 'number' && !Number.isNaN(new Date(value).getTime())

function isMessage(value: unknown): boolean {
  return isRecord(value) && TEXTS.every((name) => typeof value[name] === 'string') && isMoment(value['at']) && Array.isArray(value['references']) && value['references'].every(isRecord)
}

function isConversation(value: unknown): value is Conversation {
  return (
    isRecord(value) && typeof value['id'] === 'string' && typeof value['title'] === 'string' && isMoment(value['at']) && Array.isArray(value['messages']) && value['messages'].every(isMessage)
  )
}

export const NO_CONVERSATIONS: Conversation[] = []
export const asConversations = listOf(isConversation)
export const keptConversations = (name = conversationsName()): Conversation[] => readStored(name, NO_CONVERSATIONS, asConversations)
