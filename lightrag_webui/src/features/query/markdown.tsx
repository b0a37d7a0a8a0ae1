import 'katex/dist/katex.min.css'
import { Check, Copy } from 'lucide-react'
import { memo, useMemo, useRef, useState, type ComponentProps } from 'react'
import { useTranslation } from 'react-i18next'
import Markdown from 'react-markdown'
import rehypeHighlight from 'rehype-highlight'
import rehypeKatex from 'rehype-katex'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'
import { cn } from '@/lib/cn'
import { copyText } from '@/lib/copy'
import { remarkCitations } from './citations'
import { rehypeMark, type Span } from './highlight'
import { prepareMarked, prepareMath } from './math'

// What models and documents write is cleaned first; what turns into formulas and colours afterwards is ours.
const schema = {
  ...defaultSchema,
  attributes: { ...defaultSchema.attributes, code: [['className', /^language-./, 'math-inline', 'math-display'] as [string, ...Array<string | RegExp>]] },
  tagNames: [...(defaultSchema.tagNames ?? []).filter((name) => name !== 'img'), 'mark'],
}

interface AnswerMarkdownProps {
  text: string
  ids?: readonly string[]
  /** A citation was chosen; `statement` is what it stands for. */
  onReference?: (id: string, statement: string) => void
  /** Part of the text to be marked. */
  mark?: Span | null
  className?: string
}

const NONE: readonly string[] = []

/** Markdown with its tables, code and formulas, cleaned of everything that could run; citations open their passages. */
export default memo(function AnswerMarkdown({ text, ids = NONE, onReference, mark = null, className }: AnswerMarkdownProps) {
  const components = useMemo(() => ({ a: makeAnchor(onReference), pre: Code }), [onReference])
  const ready = useMemo(() => (mark ? prepareMarked(text, mark) : { text: prepareMath(text), span: null }), [text, mark])
  return (
    <div dir="auto" className={cn('prose-answer', className)}>
      <Markdown
        remarkPlugins={[remarkGfm, [remarkMath, { singleDollarTextMath: true }], [remarkCitations, ids]]}
        rehypePlugins={[[rehypeMark, ready.span], [rehypeSanitize, schema], [rehypeKatex, { throwOnError: false, output: 'htmlAndMathml' }], [rehypeHighlight, { detect: false }]]}
        components={components}
      >
        {ready.text}
      </Markdown>
    </div>
  )
})

function makeAnchor(onReference: AnswerMarkdownProps['onReference']) {
  return ({ href, title, children }: ComponentProps<'a'>) => {
    const id = /^#cite-(\d+)$/.exec(href ?? '')?.[1]
    if (id) {
      return (
        <button type="button" className="mx-0.5 inline-flex h-5 min-w-5 items-center justify-center rounded-md bg-brand-soft px-1 align-[0.08em] text-xs font-semibold text-brand-ink hover:bg-brand hover:text-on-brand" onClick={() => onReference?.(id, title ?? '')}>
          {id}
        </button>
      )
    }
    return (
      <a href={href} title={title} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    )
  }
}

/** A block of code that can be copied. */
function Code({ children }: ComponentProps<'pre'>) {
  const { t } = useTranslation()
  const block = useRef<HTMLPreElement>(null)
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    setCopied(await copyText(block.current?.textContent ?? ''))
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <div className="group/code relative">
      <pre ref={block} tabIndex={0}>{children}</pre>
      <button type="button" aria-label={copied ? t('action.copied') : t('action.copy')} className="absolute end-2 top-2 flex size-7 items-center justify-center rounded-md border bg-surface text-muted opacity-0 transition-opacity group-hover/code:opacity-100 hover:text-ink focus-visible:opacity-100" onClick={() => void copy()}>
        {copied ? <Check className="size-3.5" aria-hidden /> : <Copy className="size-3.5" aria-hidden />}
      </button>
    </div>
  )
}
