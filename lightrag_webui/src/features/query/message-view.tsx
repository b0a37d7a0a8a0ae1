import { Braces, Check, Copy, ListFilter, RotateCcw, SearchX, Trash2, Waypoints } from 'lucide-react'
import { lazy, Suspense, useCallback, useDeferredValue, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { chipsOf } from '@/components/filters/chips'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { ErrorNote, Skeleton, Spinner } from '@/components/ui/feedback'
import { Tooltip } from '@/components/ui/overlay'
import { copyText } from '@/lib/copy'
import { readFilter } from '@/lib/filter-url'
import { statementsOf } from './citations'
import { citedIds, readAnswer, type Message } from './conversation'
import { ReferenceList, useReferencedDocuments } from './references'

const AnswerMarkdown = lazy(() => import('./markdown'))
const ReferenceDialog = lazy(() => import('./reference-dialog'))

interface Opened {
  id: string
  /** What of the answer rests on it. */
  statement: string
}

interface MessageViewProps {
  message: Message
  onRetry: (message: Message) => void
  onRemove: (id: string) => void
  onUseFilter: (filter: string) => void
}

/** A question with its answer, its sources, and what it was limited to. */
export function MessageView({ message, onRetry, onRemove, onUseFilter }: MessageViewProps) {
  const { t, i18n } = useTranslation()
  const [opened, setOpened] = useState<Opened | null>(null)
  const { text, found } = useMemo(() => readAnswer(message), [message])
  const shown = useDeferredValue(text)
  const cited = useMemo(() => citedIds(text), [text])
  const documents = useReferencedDocuments(message.references)
  const reference = opened ? message.references.find((one) => one.reference_id === opened.id) : undefined
  const ids = useMemo(() => message.references.map((one) => one.reference_id), [message.references])
  const openAt = useCallback((id: string, statement: string) => setOpened({ id, statement }), [])
  const openFrom = (id: string) => setOpened({ id, statement: statementsOf(text, id).join(' ') || message.question })
  const chips = useMemo(() => chipsOf(readFilter(new URLSearchParams(message.filter)), t as (key: string) => string, i18n.language), [message.filter, t, i18n.language])
  const running = message.state === 'running'
  return (
    <article className="flex flex-col gap-4" aria-busy={running}>
      <div className="flex flex-col items-end gap-1.5 self-end">
        <h2 dir="auto" className="max-w-full rounded-2xl rounded-ee-md bg-brand px-4 py-2.5 text-[0.9375rem] leading-relaxed break-words whitespace-pre-wrap text-on-brand">{message.question}</h2>
        {chips.length ? (
          <button type="button" className="flex max-w-full flex-wrap justify-end gap-1 rounded-lg" title={t('ask.useFilter')} onClick={() => onUseFilter(message.filter)}>
            <ListFilter className="size-4 text-filter-ink" aria-hidden />
            <span className="sr-only">{t('ask.useFilter')}</span>
            {chips.map((chip) => (
              <bdi key={chip.key} className="max-w-64 truncate rounded-full bg-filter px-2 text-xs leading-5 text-filter-ink">{chip.text}</bdi>
            ))}
          </button>
        ) : null}
      </div>
      {running && !text ? (
        <p role="status" className="flex items-center gap-2.5 text-sm text-muted">
          <Spinner className="text-brand-ink" />
          {t(`ask.step.${message.step || 'waiting'}`)}
        </p>
      ) : null}
      {found && shown ? (
        <Suspense fallback={<Skeleton className="h-20" />}>
          <div data-testid="answer">
            <AnswerMarkdown text={shown} ids={ids} onReference={openAt} />
          </div>
        </Suspense>
      ) : null}
      {!found ? (
        <div className="flex items-start gap-3 rounded-xl border bg-surface p-4 text-sm leading-relaxed" data-testid="answer">
          <SearchX className="mt-0.5 size-5 shrink-0 text-muted" aria-hidden />
          <div>
            <p className="font-medium">{t('ask.nothing')}</p>
            <p className="text-muted">{chips.length ? t('ask.nothingFiltered') : t('ask.nothingText')}</p>
            {chips.length ? (
              <Button size="small" className="mt-3" onClick={() => onRetry({ ...message, filter: '' })}>
                {t('ask.withoutFilter')}
              </Button>
            ) : null}
          </div>
        </div>
      ) : null}
      {message.error ? <ErrorNote error={message.error} onRetry={() => onRetry(message)} /> : null}
      {message.state === 'stopped' ? <p className="text-sm text-muted italic">{t('ask.stopped')}</p> : null}
      {running ? null : <ReferenceList references={message.references} cited={cited} documents={documents.data ?? {}} onOpen={openFrom} />}
      {running ? null : <MessageActions message={message} text={text} onRetry={onRetry} onRemove={onRemove} />}
      {reference && opened ? (
        <Suspense fallback={null}>
          <ReferenceDialog reference={reference} document={documents.data?.[reference.file_path]} statement={opened.statement} onClose={() => setOpened(null)} />
        </Suspense>
      ) : null}
    </article>
  )
}

function MessageActions({ message, text, onRetry, onRemove }: Pick<MessageViewProps, 'message' | 'onRetry' | 'onRemove'> & { text: string }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [copied, setCopied] = useState(false)
  const [sent, setSent] = useState(false)
  const copy = async () => {
    if (!(await copyText(text))) return
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  const actions = [
    { name: copied ? t('action.copied') : t('action.copy'), icon: copied ? Check : Copy, run: () => void copy() },
    { name: t('ask.again'), icon: RotateCcw, run: () => onRetry(message) },
    { name: t('ask.inGraph'), icon: Waypoints, run: () => void navigate(`/graph?${message.filter}`) },
    { name: t('ask.sent'), icon: Braces, run: () => setSent(true) },
    { name: t('action.delete'), icon: Trash2, run: () => onRemove(message.id) },
  ]
  return (
    <div className="-ms-2 flex items-center gap-0.5">
      {actions.map(({ name, icon: Icon, run }) => (
        <Tooltip key={name} text={name}>
          <Button variant="ghost" size="icon-small" className="text-muted" aria-label={name} onClick={run}>
            <Icon />
          </Button>
        </Tooltip>
      ))}
      <span className="ms-2 text-xs text-muted tabular-nums">
        {t(`ask.mode.${message.mode}`)}
        {message.seconds === null ? null : ` · ${t('ask.seconds', { seconds: message.seconds.toFixed(1) })}`}
      </span>
      <Dialog open={sent} onOpenChange={setSent} title={t('ask.sent')} description="POST /query/stream">
        <pre dir="ltr" className="overflow-auto text-xs leading-relaxed">{message.sent}</pre>
      </Dialog>
    </div>
  )
}
