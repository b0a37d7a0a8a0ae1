import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { emptyFilter } from '@/lib/filters'
import { splitCitations } from './citations'
import { applyLine, citedIds, keepConversation, MAX_KEPT, newMessage, readAnswer, settled } from './conversation'
import AnswerMarkdown from './markdown'
import { buildRequest, DEFAULT_SETTINGS, toMode } from './settings'

afterEach(cleanup)

describe('a message', () => {
  const start = newMessage('Q', 'mix', '', '{}')

  it('grows with the lines of the stream', () => {
    const end = [{ progress: 'retrieving_chunks' }, { references: [{ reference_id: '1', file_path: 'a.md' }] }, { response: 'Hello ' }, { response: 'you [1]' }, { response_time: 1.5 }].reduce(applyLine, start)
    expect(end).toMatchObject({ answer: 'Hello you [1]', step: 'retrieving_chunks', seconds: 1.5, state: 'running' })
    expect(end.references).toHaveLength(1)
  })

  it('fails with the words of the server and keeps what came before', () => {
    expect([{ response: 'Half' }, { error: 'model gone', code: 'model_error' }].reduce(applyLine, start)).toMatchObject({ answer: 'Half', error: 'model gone', state: 'failed' })
  })

  it('shows the list of references apart, and says when nothing was found', () => {
    const references = [{ reference_id: '1', file_path: 'a.md' }]
    expect(readAnswer({ ...start, answer: 'A [1]\n\n### References\n\n- [1] a.md', references })).toEqual({ text: 'A [1]', found: true })
    expect(readAnswer({ ...start, answer: 'Sorry.[no-context]' })).toEqual({ text: 'Sorry.', found: false })
    expect([...citedIds('a [1] b [12][1]')]).toEqual(['1', '12'])
  })

  it('that was running when the page closed has stopped', () => {
    const conversation = { id: 'c', title: '', at: 0, messages: [start] }
    expect(settled(conversation).messages[0]?.state).toBe('stopped')
    expect(keepConversation([conversation, { ...conversation, id: 'd' }], { ...conversation, title: 'new' }).map((one) => one.title)).toEqual(['new', ''])
  })
})

describe('what is kept', () => {
  const reference = (size: number) => ({ reference_id: '1', file_path: 'a.md', content: ['x'.repeat(size)] })
  const conversation = (id: string, size: number) => ({ id, title: id, at: 0, messages: [{ ...newMessage('Q', 'mix', '', '{}'), references: [reference(size)] }] })

  it('has room in the browser: the oldest go, and of one too large its passages', () => {
    const all = ['b', 'c', 'd'].map((id) => conversation(id, MAX_KEPT / 3))
    expect(keepConversation(all, conversation('a', MAX_KEPT / 3)).map((one) => one.id)).toEqual(['a', 'b'])
    const [large, ...others] = keepConversation([conversation('b', 10)], conversation('a', MAX_KEPT))
    expect(large?.messages[0]?.references).toEqual([{ reference_id: '1', file_path: 'a.md' }])
    expect(others.map((one) => one.id)).toEqual(['b'])
  })

  it('is no conversation without messages', () => {
    expect(keepConversation([conversation('a', 1), conversation('b', 1)], { id: 'a', title: '', at: 0, messages: [] }).map((one) => one.id)).toEqual(['b'])
  })
})

describe('a request', () => {
  it('leaves out what has the default, and the filter when there is none', () => {
    expect(buildRequest('Q', 'mix', DEFAULT_SETTINGS, emptyFilter('UTC'), [])).toEqual({ query: 'Q', mode: 'mix', include_references: true, include_chunk_content: true, include_progress: true })
  })

  it('carries filter, budgets and the last turns', () => {
    const request = buildRequest('Q', 'naive', { ...DEFAULT_SETTINGS, chunk_top_k: 5, history_turns: 1 }, { ...emptyFilter('UTC'), required: ['a'] }, [{ question: 'x', answer: 'y' }, { question: 'u', answer: 'v' }])
    expect(request).toMatchObject({ mode: 'naive', chunk_top_k: 5, required_tags: ['a'], conversation_history: [{ role: 'user', content: 'u' }, { role: 'assistant', content: 'v' }] })
    expect('conversation_history' in buildRequest('Q', 'mix', { ...DEFAULT_SETTINGS, history_turns: 0 }, emptyFilter(), [{ question: 'x', answer: 'y' }])).toBe(false)
    expect(toMode('nonsense')).toBe('mix')
  })
})

describe('an answer', () => {
  it('links only numbers of references that exist', () => {
    expect(splitCitations('a [1] b [2]', new Set(['1'])).map((node) => node.type)).toEqual(['text', 'link', 'text'])
  })

  it('opens a reference by its number', () => {
    const open = vi.fn()
    render(<AnswerMarkdown text={'Built in 1934 [1], see `x[1]`.'} ids={['1']} onReference={open} />)
    fireEvent.click(screen.getByRole('button', { name: '1' }))
    expect(open).toHaveBeenCalledWith('1', 'Built in 1934')
    expect(screen.getAllByRole('button').map((one) => one.textContent)).toEqual(['1'])
  })

  it('shows tables, code and formulas, and runs nothing', () => {
    const text = '| a | b |\n|-|-|\n| 1 | 2 |\n\n```js\nlet x = 1\n```\n\n$x^2$\n\n<img src=x onerror=alert(1)><script>alert(1)</script>\n\n[bad](javascript:alert(1)) ![pic](https://example.org/p.png)'
    const { container } = render(<AnswerMarkdown text={text} ids={[]} onReference={() => undefined} />)
    expect(container.querySelector('table')).not.toBeNull()
    expect(container.querySelector('code .hljs-keyword')).not.toBeNull()
    expect(container.querySelector('.katex')).not.toBeNull()
    expect(container.querySelector('img, script, [onerror]')).toBeNull()
    expect(container.querySelector('a[href^="javascript"]')).toBeNull()
  })
})
