import { useCallback, useReducer, useRef } from 'react'
import { uploadDocument } from '@/api/lightrag'
import { ApiError } from '@/api/http'

export interface UploadItem {
  id: number
  file: File
  state: 'waiting' | 'sending' | 'done' | 'failed'
  share: number
  error: unknown
}

type Action =
  | { type: 'add'; items: UploadItem[] }
  | { type: 'remove'; id: number }
  | { type: 'change'; id: number; part: Partial<UploadItem> }
  | { type: 'clear' }

export function reduceUploads(items: UploadItem[], action: Action): UploadItem[] {
  switch (action.type) {
    case 'add': {
      const known = new Set(items.map((item) => `${item.file.name}\n${item.file.size}`))
      return [...items, ...action.items.filter((item) => !known.has(`${item.file.name}\n${item.file.size}`))]
    }
    case 'remove':
      return items.filter((item) => item.id !== action.id)
    case 'change':
      return items.map((item) => (item.id === action.id ? { ...item, ...action.part } : item))
    case 'clear':
      return []
  }
}

const AT_ONCE = 3
const PATIENCE = 5
let nextId = 1

/** Files on their way to the server, a few at a time; one that is told to wait waits. */
export function useUploadQueue() {
  const [items, dispatch] = useReducer(reduceUploads, [])
  const control = useRef<AbortController | null>(null)

  const add = useCallback((files: Iterable<File>) => {
    dispatch({ type: 'add', items: [...files].map((file) => ({ id: nextId++, file, state: 'waiting', share: 0, error: null })) })
  }, [])

  const send = useCallback(async (waiting: UploadItem[], metadata: object): Promise<{ done: number; failed: number }> => {
    const abort = new AbortController()
    control.current = abort
    const queue = [...waiting]
    const ended = { done: 0, failed: 0 }
    const worker = async () => {
      for (let item = queue.shift(); item && !abort.signal.aborted; item = queue.shift()) {
        // One after the other is the point: each worker has one file in its hands.
        if (await sendOne(item, metadata, abort.signal, dispatch)) ended.done += 1
        else if (!abort.signal.aborted) ended.failed += 1
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    return ended
  }, [])

  const stop = useCallback(() => control.current?.abort(), [])
  const remove = useCallback((id: number) => dispatch({ type: 'remove', id }), [])
  const clear = useCallback(() => dispatch({ type: 'clear' }), [])
  return { items, add, send, stop, remove, clear }
}

async function sendOne(item: UploadItem, metadata: object, signal: AbortSignal, dispatch: (action: Action) => void): Promise<boolean> {
  const change = (part: Partial<UploadItem>) => dispatch({ type: 'change', id: item.id, part })
  for (let attempt = 1; ; attempt += 1) {
    change({ state: 'sending', share: 0, error: null })
    try {
      await uploadDocument(item.file, metadata, (share) => change({ share }), signal)
      change({ state: 'done', share: 1 })
      return true
    } catch (error) {
      if (error instanceof ApiError && error.status === 429 && attempt < PATIENCE) {
        await new Promise((resolve) => setTimeout(resolve, (error.retryAfter ?? 2) * 1000))
        continue
      }
      change({ state: signal.aborted ? 'waiting' : 'failed', share: 0, error: signal.aborted ? null : error })
      return false
    }
  }
}
