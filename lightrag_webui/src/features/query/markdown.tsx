import 'katex/dist/katex.min.css'
import type { ComponentProps } from 'react'
import Markdown from 'react-markdown'
import rehypeHighlight from 'rehype-highlight'
import rehypeKatex from 'rehype-katex'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'
import { remarkCitations } from './citations'

// What models write is cleaned first; what turns into formulas and colours afterwards is ours.
const schema = {
  ...defaultSchema,
  attributes: { ...defaultSchema.attributes, code: [['className', /^language-./, 'math-inline', 'math-display'] as [string, ...Array<string | RegExp>]] },
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => name !== 'img'),
}

interface AnswerMarkdownProps {
  text: string
  ids: readonly string[]
  onReference: (id: string) => void
}

/** An answer with its tables, code and formulas; citations open their passages. */
export default function AnswerMarkdown({ text, ids, onReference }: AnswerMarkdownProps) {
  const anchor = ({ href, children }: ComponentProps<'a'>) => {
    const id = /^#cite-(\d+)$/.exec(href ?? '')?.[1]
    if (id) {
      return (
        <button type="button" className="mx-0.5 inline-flex h-5 min-w-5 items-center justify-center rounded-md bg-brand-soft px-1 align-[0.08em] text-xs font-semibold text-brand-ink hover:bg-brand hover:text-on-brand" onClick={() => onReference(id)}>
          {id}
        </button>
      )
    }
    return (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    )
  }
  return (
    <div dir="auto" className="prose-answer">
      <Markdown
        remarkPlugins={[remarkGfm, [remarkMath, { singleDollarTextMath: true }], [remarkCitations, ids]]}
        rehypePlugins={[[rehypeSanitize, schema], [rehypeKatex, { throwOnError: false, output: 'htmlAndMathml' }], [rehypeHighlight, { detect: false }]]}
        components={{ a: anchor }}
      >
        {text}
      </Markdown>
    </div>
  )
}
