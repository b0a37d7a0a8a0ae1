/** Lines of JSON, as `/query/stream` sends them. */

import type { Reference } from './generated'

export interface StreamLine {
  progress?: string
  references?: Reference[]
  response?: string
  error?: string
  code?: string
  response_time?: number
  llm_generated?: boolean
}

/** Cuts text that arrives in any pieces into lines; what is not complete yet waits. */
export class LineCutter {
  private rest = ''

  push(text: string): string[] {
    const parts = (this.rest + text).split('\n')
    this.rest = parts.pop() ?? ''
    return parts.filter((line) => line.trim())
  }

  end(): string[] {
    const last = this.rest
    this.rest = ''
    return last.trim() ? [last] : []
  }
}

/** Yields the lines of a response as they arrive. */
export async function* readLines(response: Response): AsyncGenerator<StreamLine> {
  if (!response.body) return
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  const cutter = new LineCutter()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      const lines = done ? cutter.end() : cutter.push(decoder.decode(value, { stream: true }))
      for (const line of lines) yield JSON.parse(line) as StreamLine
      if (done) return
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
