import { ExternalLink, FileText } from 'lucide-react'
import { useEffect, useMemo, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import type { DocStatusResponse, Reference } from '@/api/lightrag'
import { DocumentDates } from '@/components/document-dates'
import { TagList } from '@/components/tags'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { cn } from '@/lib/cn'
import { getDocumentMetaHref, getDocumentTitle } from '@/lib/documentMetadata'
import AnswerMarkdown from './markdown'
import { findPlace } from './passages'

interface ReferenceDialogProps {
  reference: Reference
  document: DocStatusResponse | undefined
  /** What the answer says on the strength of it. */
  statement: string
  onClose: () => void
}

/** The passages of a reference, with the dates and tags of their document; the place that a statement rests on is marked. */
export default function ReferenceDialog({ reference, document, statement, onClose }: ReferenceDialogProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const href = getDocumentMetaHref(document?.meta)
  return (
    <Dialog
      open
      layout="side"
      onOpenChange={(open) => !open && onClose()}
      title={
        <span className="flex items-start gap-2.5">
          <span className="mt-px flex h-5.5 min-w-5.5 items-center justify-center rounded-md bg-brand-soft px-1 text-xs font-semibold text-brand-ink">{reference.reference_id}</span>
          <bdi>{getDocumentTitle(document ?? reference)}</bdi>
        </span>
      }
      description={<bdi dir="ltr">{reference.file_path}</bdi>}
      footer={
        document ? (
          <>
            {href ? (
              <a href={href} target="_blank" rel="noopener noreferrer" title={href} aria-label={t('documentPanel.documentManager.metaHrefAriaLabel')} className="me-auto inline-flex items-center gap-1.5 rounded-lg text-sm font-medium text-brand-ink underline-offset-2 hover:underline">
                <ExternalLink className="size-4" aria-hidden />
                {t('documentPanel.documentManager.metaHref')}
              </a>
            ) : null}
            <Button onClick={() => void navigate(`/documents?${new URLSearchParams({ doc: document.id })}`)}>
              <FileText />
              {t('ask.openDocument')}
            </Button>
          </>
        ) : undefined
      }
    >
      <div className="flex flex-col gap-5">
        {document ? (
          <div className="flex flex-col gap-2 text-sm">
            <DocumentDates start={document.start_date} end={document.end_date} />
            <TagList tags={document.tags ?? []} />
          </div>
        ) : null}
        <Passages texts={reference.content ?? []} statement={statement} />
      </div>
    </Dialog>
  )
}

function Passages({ texts, statement }: { texts: readonly string[]; statement: string }) {
  const { t } = useTranslation()
  const place = useMemo(() => findPlace(statement, texts), [statement, texts])
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    if (!place) return
    const passage = list.current?.children[place.passage]
    ;(passage?.querySelector('mark') ?? passage)?.scrollIntoView({ block: 'center' })
  }, [place])
  if (!texts.length) return <p className="text-sm text-muted">{t('ask.noPassage')}</p>
  return (
    <ol ref={list} tabIndex={0} aria-label={t('ask.passages')} className="rounded-xl flex flex-col gap-5">
      {texts.map((text, index) => (
        <li key={text} data-testid="passage" {...(place?.passage === index ? { 'aria-current': true } : {})} className={cn('rounded-xl border-s-4 bg-sunken px-4 py-3.5 text-sm', place && place.passage !== index ? 'border-line' : 'border-brand/60')}>
          {texts.length > 1 ? <p className="mb-2 text-xs font-semibold text-muted tabular-nums">{t('ask.passage', { number: index + 1, total: texts.length })}</p> : null}
          <AnswerMarkdown text={text} mark={place?.passage === index ? place : null} className="prose-passage" />
        </li>
      ))}
    </ol>
  )
}
