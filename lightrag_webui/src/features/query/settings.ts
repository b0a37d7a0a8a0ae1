/** How answers are made: what a person can set, and what of it is sent. */

import type { QueryRequest } from '@/api/lightrag'
import { toPayload, type FilterState } from '@/lib/filters'
import { like } from '@/lib/stored'

export const MODES = ['mix', 'hybrid', 'local', 'global', 'naive', 'bypass'] as const
export type Mode = (typeof MODES)[number]

export interface AnswerSettings {
  /** `null` leaves a number to the server. */
  top_k: number | null
  chunk_top_k: number | null
  max_entity_tokens: number | null
  max_relation_tokens: number | null
  max_total_tokens: number | null
  response_type: string
  user_prompt: string
  enable_rerank: boolean | null
  include_document_metadata: boolean
  /** Questions and answers before that are sent along. */
  history_turns: number
  stream: boolean
}

export const DEFAULT_SETTINGS: AnswerSettings = {
  top_k: null, chunk_top_k: null, max_entity_tokens: null, max_relation_tokens: null, max_total_tokens: null,
  response_type: '', user_prompt: '', enable_rerank: null, include_document_metadata: false, history_turns: 3, stream: true,
}

/** Settings that this browser keeps, as far as they are settings. */
export const asSettings = like(DEFAULT_SETTINGS, ['number', 'boolean'])

export const NUMBERS = {
  top_k: 1000, chunk_top_k: 1000, max_entity_tokens: 1_000_000, max_relation_tokens: 1_000_000, max_total_tokens: 1_000_000,
} as const satisfies Partial<Record<keyof AnswerSettings, number>>

export const toMode = (value: string): Mode => MODES.find((one) => one === value) ?? 'mix'

export interface Turn {
  question: string
  answer: string
}

/** Returns the request of a question. What has the server's default is left out, and so is a filter that does not limit. */
export function buildRequest(question: string, mode: Mode, settings: AnswerSettings, filter: FilterState, turns: readonly Turn[]): QueryRequest {
  const request: QueryRequest = { query: question, mode, include_references: true, include_chunk_content: true, include_progress: true, ...toPayload(filter) }
  for (const name of Object.keys(NUMBERS) as Array<keyof typeof NUMBERS>) {
    const value = settings[name]
    if (value !== null) request[name] = value
  }
  if (settings.response_type.trim()) request.response_type = settings.response_type.trim()
  if (settings.user_prompt.trim()) request.user_prompt = settings.user_prompt.trim()
  if (settings.enable_rerank !== null) request.enable_rerank = settings.enable_rerank
  if (settings.include_document_metadata) request.include_document_metadata = true
  if (!settings.stream) request.stream = false
  const last = settings.history_turns > 0 ? turns.filter((turn) => turn.answer).slice(-settings.history_turns) : []
  if (last.length) {
    request.conversation_history = last.flatMap((turn) => [
      { role: 'user', content: turn.question },
      { role: 'assistant', content: turn.answer.slice(0, 32_000) },
    ])
  }
  return request
}
