import { useTranslation } from 'react-i18next'
import { cn } from '@/lib/cn'
import { formatDocumentDay } from '@/lib/format'

interface DocumentDatesProps {
  start: string | null | undefined
  end: string | null | undefined
  className?: string
}

/** The time that a document is about, in words; open ends and none are said, not left out. */
export function DocumentDates({ start, end, className }: DocumentDatesProps) {
  const { t, i18n } = useTranslation()
  const from = formatDocumentDay(start, i18n.language)
  const to = formatDocumentDay(end, i18n.language)
  if (!from && !to) return <span className={cn('text-muted italic', className)}>{t('documents.undated')}</span>
  const text = from && to ? (from === to ? from : `${from} – ${to}`) : from ? t('filter.chip.since', { from }) : t('filter.chip.until', { to })
  return (
    <span className={className} title={[start, end].filter(Boolean).join(' – ')}>
      {text}
    </span>
  )
}
