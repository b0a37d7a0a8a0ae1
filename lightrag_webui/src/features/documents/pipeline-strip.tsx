import { CircleStop, ScrollText } from 'lucide-react'
import { useEffect, useRef, useState, type RefObject } from 'react'
import { useTranslation } from 'react-i18next'
import type { PipelineStatus } from '@/api/lightrag'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { ProgressBar, Spinner } from '@/components/ui/feedback'
import { formatMoment } from '@/lib/format'
import { useCancel } from './use-documents'

/** What is being read right now, how far it is, and the way to stop it. */
export function PipelineStrip({ status }: { status: PipelineStatus | undefined }) {
  const { t } = useTranslation()
  const cancel = useCancel()
  const [open, setOpen] = useState(false)
  const active = Boolean(status && (status.busy || status.scanning || status.destructive_busy || status.pending_enqueues))
  return (
    <>
      {status && active ? (
        <section aria-label={t('pipeline.title')} className="flex items-center gap-3 border-b bg-busy-soft px-4 py-2.5">
          <Spinner className="text-busy" />
          <div className="min-w-0 flex-1">
            <p className="flex items-baseline gap-2 text-sm font-medium">
              <span className="shrink-0">{status.scanning ? t('pipeline.scanning') : status.destructive_busy ? t('pipeline.deleting') : t('pipeline.reading')}</span>
              {status.docs ? <span className="text-xs font-normal text-muted tabular-nums">{t('pipeline.share', { done: status.cur_batch, total: status.docs })}</span> : null}
              <span className="truncate text-xs font-normal text-muted" dir="auto">{status.latest_message}</span>
            </p>
            {status.docs ? <ProgressBar share={status.cur_batch / status.docs} label={t('pipeline.title')} className="mt-1.5" /> : null}
          </div>
          <Button size="small" variant="ghost" onClick={() => setOpen(true)}>
            <ScrollText />
            <span className="hidden sm:inline">{t('pipeline.log')}</span>
          </Button>
          <Button size="small" disabled={status.cancellation_requested || cancel.isPending} onClick={() => cancel.mutate()}>
            <CircleStop />
            {status.cancellation_requested ? t('pipeline.stopping') : t('action.stop')}
          </Button>
        </section>
      ) : null}
      {status ? <PipelineLog status={status} open={open} onOpenChange={setOpen} /> : null}
    </>
  )
}

/** The log of the pipeline as it grows. */
export function PipelineLog({ status, open, onOpenChange }: { status: PipelineStatus; open: boolean; onOpenChange: (open: boolean) => void }) {
  const { t, i18n } = useTranslation()
  const end = useRef<HTMLDivElement>(null)
  const lines = status.history_messages
  const followed = useRef(true)
  useEffect(() => {
    if (open && followed.current) end.current?.scrollIntoView({ block: 'end' })
  }, [open, lines.length])
  return (
    <Dialog open={open} onOpenChange={onOpenChange} layout="side" className="sm:max-w-2xl" title={t('pipeline.log')} description={status.job_start ? t('pipeline.since', { moment: formatMoment(status.job_start, i18n.language) }) : t('pipeline.idle')}>
      {lines.length ? (
        <ol tabIndex={0} data-first aria-label={t('pipeline.log')} className="flex flex-col gap-1 rounded font-mono text-xs leading-relaxed outline-offset-4" dir="ltr" aria-live="polite">
          {lines.map((line, index) => (
            // Lines are only ever added at the end.
            // oxlint-disable-next-line react/no-array-index-key
            <li key={index} className="break-words">
              {line}
            </li>
          ))}
        </ol>
      ) : (
        <p className="text-sm text-muted">{t('pipeline.empty')}</p>
      )}
      <EndMark ref={end} onSeen={(seen) => (followed.current = seen)} />
    </Dialog>
  )
}

/** The end of the log: as long as it is in view the log is followed, who has scrolled back reads on. */
function EndMark({ ref, onSeen }: { ref: RefObject<HTMLDivElement | null>; onSeen: (seen: boolean) => void }) {
  useEffect(() => {
    const mark = ref.current
    if (!mark) return undefined
    const observer = new IntersectionObserver((entries) => onSeen(entries.at(-1)?.isIntersecting ?? true))
    observer.observe(mark)
    return () => observer.disconnect()
    // The mark is there once, with the dialog.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [])
  return <div ref={ref} className="h-4" />
}
