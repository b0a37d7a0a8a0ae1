import { ExternalLink } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { DocStatus, DocStatusResponse } from '@/api/lightrag'
import { Tooltip } from '@/components/ui/overlay'
import { cn } from '@/lib/cn'
import { getDocumentMetaHref } from '@/lib/documentMetadata'

const TONES: Record<DocStatus, string> = {
  processed: 'bg-success-soft text-success',
  failed: 'bg-danger-soft text-danger',
  pending: 'bg-sunken text-muted',
  parsing: 'bg-busy-soft text-busy',
  analyzing: 'bg-busy-soft text-busy',
  processing: 'bg-busy-soft text-busy',
  preprocessed: 'bg-busy-soft text-busy',
}

export function StatusBadge({ status }: { status: DocStatus }) {
  const { t } = useTranslation()
  const running = status === 'parsing' || status === 'analyzing' || status === 'processing'
  return (
    <span className={cn('inline-flex h-6 items-center gap-1.5 rounded-full px-2.5 text-xs font-medium whitespace-nowrap', TONES[status])}>
      <span aria-hidden className={cn('size-1.5 rounded-full bg-current', running && 'animate-pulse')} />
      {t(`documents.status.${status}`)}
    </span>
  )
}

/** A link to where the document comes from, if its metadata names a safe one. */
export function SourceLink({ meta, withText }: { meta: DocStatusResponse['meta']; withText?: boolean }) {
  const { t } = useTranslation()
  const href = getDocumentMetaHref(meta)
  if (!href) return null
  return (
    <Tooltip text={<bdi dir="ltr">{href}</bdi>}>
      <a
        href={href}
        target="_blank"
        rel="noopener noreferrer"
        aria-label={t('documentPanel.documentManager.metaHrefAriaLabel')}
        className="inline-flex max-w-full items-center gap-1.5 rounded text-brand-ink hover:underline"
        onClick={(event) => event.stopPropagation()}
      >
        <ExternalLink className="size-3.5 shrink-0" aria-hidden />
        {withText ? <bdi dir="ltr" className="truncate">{href}</bdi> : null}
      </a>
    </Tooltip>
  )
}
