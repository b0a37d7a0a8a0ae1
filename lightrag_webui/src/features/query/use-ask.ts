import { useCallback, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { queryTextStream, type QueryRequest } from '@/api/lightrag'
import type { StreamLine } from '@/api/stream'
import { errorText } from '@/lib/errors'
import { newId } from '@/lib/ids'
import { writeStored } from '@/lib/stored'
import { applyLine, keepConversation, newMessage, settled, type Conversation, type Message } from './conversation'
import { conversationsName, keptConversations } from './kept'

const fresh = (): Conversation => ({ id: newId(), title: '', at: Date.now(), messages: [] })

/** Collects what arrives and hands it over once in every frame that is drawn: a page cannot show more. */
function inFrames(take: (lines: StreamLine[]) => void) {
  let lines: StreamLine[] = []
  let frame = 0
  const flush = () => {
    cancelAnimationFrame(frame)
    frame = 0
    if (lines.length) take(lines)
    lines = []
  }
  const push = (line: StreamLine) => {
    lines.push(line)
    // A page in the background draws no frames; what has gathered is handed over at the end.
    if (!frame) frame = requestAnimationFrame(flush)
  }
  return { push, flush }
}

/** The conversation that is open: asking, stopping, keeping. */
export function useAsk() {
  const { t } = useTranslation()
  // An answer that ends while somebody signs out is still that of whoever asked.
  const [kept] = useState(conversationsName)
  const [conversation, setConversation] = useState<Conversation>(() => {
    const last = keptConversations(kept)[0]
    return last ? settled(last) : fresh()
  })
  const abort = useRef<AbortController | null>(null)
  const running = conversation.messages.some((one) => one.state === 'running')

  // Kept when an answer is complete, not with every word.
  useEffect(() => {
    if (!running) writeStored(kept, keepConversation(keptConversations(kept), conversation))
  }, [kept, running, conversation])

  useEffect(() => () => abort.current?.abort(), [])

  const change = useCallback((id: string, how: (message: Message) => Message) => {
    setConversation((before) => ({ ...before, messages: before.messages.map((one) => (one.id === id ? how(one) : one)) }))
  }, [])

  const ask = useCallback(
    async (request: QueryRequest, filter: string) => {
      const message = newMessage(request.query, request.mode ?? 'mix', filter, JSON.stringify(request, null, 2))
      setConversation((before) => ({ ...before, at: Date.now(), title: before.title || request.query.slice(0, 120), messages: [...before.messages, message] }))
      const control = new AbortController()
      abort.current = control
      const draw = inFrames((lines) => change(message.id, (one) => lines.reduce(applyLine, one)))
      try {
        for await (const line of queryTextStream(request, control.signal)) draw.push(line)
        draw.flush()
        change(message.id, (one) => ({ ...one, step: '', state: one.state === 'running' ? 'done' : one.state }))
      } catch (error) {
        draw.flush()
        const stopped = control.signal.aborted
        change(message.id, (one) => ({ ...one, step: '', state: stopped ? 'stopped' : 'failed', error: stopped ? '' : errorText(error, t) }))
      }
    },
    [change, t],
  )

  const stop = useCallback(() => abort.current?.abort(), [])
  const remove = useCallback((id: string) => setConversation((before) => ({ ...before, messages: before.messages.filter((one) => one.id !== id) })), [])
  const open = useCallback((one: Conversation | null) => {
    abort.current?.abort()
    setConversation(one ? settled(one) : fresh())
  }, [])
  return { conversation, running, ask, stop, remove, open }
}
