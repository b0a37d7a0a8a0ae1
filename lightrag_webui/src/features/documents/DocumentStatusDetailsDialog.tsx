import { Copy, MessagesSquare, Pencil, RotateCcw, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { toast } from 'sonner'
import type { DocStatusResponse } from '@/api/lightrag'
import { DocumentDates } from '@/components/document-dates'
import { TagList } from '@/components/tags'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { Skeleton } from '@/components/ui/feedback'
import { getDocumentTitle } from '@/lib/documentMetadata'
import { copyText } from '@/lib/copy'
import { formatMoment, formatNumber, formatSize } from '@/lib/format'
import { SourceLink, StatusBadge } from './document-parts'

interface DetailsProps {
  document: DocStatusResponse | null | undefined
  onClose: () => void
  onEdit: (document: DocStatusResponse) => void
  onDelete: (ids: string[]) => void
  onRetry: (id: string) => void
}

/** Everything that is known of a document. */
export function DocumentStatusDetailsDialog({ document, onClose, onEdit, onDelete, onRetry }: DetailsProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  return (
    <Dialog
      open
      layout="side"
      onOpenChange={(open) => !open && onClose()}
      title={document ? getDocumentTitle(document) : t('documents.details')}
      footer={
        document ? (
          <>
            <Button variant="ghost" className="me-auto text-danger" onClick={() => onDelete([document.id])}>
              <Trash2 />
              {t('action.delete')}
            </Button>
            {document.status === 'failed' ? (
              <Button onClick={() => onRetry(document.id)}>
                <RotateCcw />
                {t('action.retry')}
              </Button>
            ) : document.source_path ? (
              <Button onClick={() => void navigate(`/ask?${new URLSearchParams({ folder: document.source_path ?? '' })}`)}>
                <MessagesSquare />
                {t('documents.askThis')}
              </Button>
            ) : null}
            <Button variant="primary" onClick={() => onEdit(document)}>
              <Pencil />
              {t('metadata.edit')}
            </Button>
          </>
        ) : undefined
      }
    >
      {document === undefined ? <Skeleton className="h-40" /> : document === null ? <p className="text-sm text-muted">{t('documents.gone')}</p> : <Details document={document} />}
    </Dialog>
  )
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="col-span-2 grid grid-cols-subgrid py-1">
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  )
}

function Details({ document }: { document: DocStatusResponse }) {
  const { t, i18n } = useTranslation()
  const meta = Object.entries(document.meta ?? {})
  const moments: Array<[string, string | null | undefined]> = [
    [t('documents.accepted'), document.created_at],
    ...(typeof document.metadata?.['process_start_time'] === 'number' ? [[t('documents.started'), new Date(document.metadata['process_start_time'] * 1000).toISOString()] as [string, string]] : []),
    ...(typeof document.metadata?.['process_end_time'] === 'number' ? [[t('documents.finished'), new Date(document.metadata['process_end_time'] * 1000).toISOString()] as [string, string]] : []),
    [t('documents.column.updated'), document.updated_at],
  ]
  const copy = async () => {
    if (await copyText(document.id)) toast.success(t('action.copied'))
  }
  return (
    <div className="flex flex-col gap-5 text-sm">
      {document.error_msg ? (
        <section className="rounded-xl border border-danger/30 bg-danger-soft p-3.5">
          <h3 className="text-xs font-semibold text-danger">{t('documents.error')}</h3>
          <p className="mt-1 leading-relaxed break-words whitespace-pre-wrap">{document.error_msg}</p>
        </section>
      ) : null}
      <dl className="grid grid-cols-[minmax(6rem,auto)_minmax(0,1fr)] gap-x-5">
        <Row name={t('documents.column.status')}><StatusBadge status={document.status} /></Row>
        <Row name={t('documents.column.dates')}>
          <DocumentDates start={document.start_date} end={document.end_date} />
          {document.start_date || document.end_date ? (
            <span className="block text-xs text-muted" dir="ltr">{document.start_date ?? '…'} – {document.end_date ?? '…'}</span>
          ) : null}
        </Row>
        <Row name={t('documents.column.tags')}>{document.tags?.length ? <TagList tags={document.tags} /> : <span className="text-muted italic">{t('documents.untagged')}</span>}</Row>
        <Row name={t('documents.source')}>
          <bdi dir="ltr">{document.file_path}</bdi>
          <span className="block"><SourceLink meta={document.meta} withText /></span>
        </Row>
        {document.doc_type ? <Row name={t('metadata.type')}>{document.doc_type}</Row> : null}
        {document.modified_at ? <Row name={t('documents.modified')}>{formatMoment(document.modified_at, i18n.language)}</Row> : null}
        <Row name={t('documents.column.size')}>
          {t('documents.characters', { count: document.content_length, shown: formatNumber(document.content_length, i18n.language), size: formatSize(document.content_length, i18n.language) })}
          {document.chunks_count == null ? null : `, ${t('documents.chunks', { count: document.chunks_count })}`}
        </Row>
        <Row name="Id">
          <button type="button" className="inline-flex max-w-full items-center gap-1.5 rounded hover:text-brand-ink" aria-label={t('action.copyNamed', { name: document.id })} onClick={() => void copy()}>
            <bdi dir="ltr" className="truncate font-mono text-xs">{document.id}</bdi>
            <Copy className="size-3.5 shrink-0" aria-hidden />
          </button>
        </Row>
      </dl>
      <section>
        <h3 className="mb-2 text-xs font-semibold text-muted">{t('documents.history')}</h3>
        <ol className="flex flex-col gap-1.5 border-s-2 ps-3.5">
          {moments.map(([name, iso]) => (
            <li key={name} className="flex justify-between gap-4 text-[0.8125rem]">
              <span>{name}</span>
              <span className="text-muted">{formatMoment(iso, i18n.language)}</span>
            </li>
          ))}
        </ol>
      </section>
      {meta.length ? (
        <section>
          <h3 className="mb-2 text-xs font-semibold text-muted">{t('metadata.meta')}</h3>
          <pre dir="ltr" className="max-h-72 overflow-auto rounded-xl bg-sunken p-3 text-xs leading-relaxed">{JSON.stringify(document.meta, null, 2)}</pre>
        </section>
      ) : null}
      <section>
        <h3 className="mb-2 text-xs font-semibold text-muted">{t('documents.beginning')}</h3>
        <p dir="auto" className="rounded-xl bg-sunken p-3 text-[0.8125rem] leading-relaxed break-words whitespace-pre-wrap">{document.content_summary}</p>
      </section>
    </div>
  )
}
