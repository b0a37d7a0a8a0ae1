import { useTranslation } from 'react-i18next'
import { Spinner } from '@/components/ui/feedback'
import { cn } from '@/lib/cn'
import { errorText } from '@/lib/errors'
import { filterFault, isActive, type FilterState } from '@/lib/filters'
import { formatNumber } from '@/lib/format'
import { usePreview } from '@/lib/queries'

/** "42 of 310 documents match", as it is right now. */
export function PreviewLine({ state, className }: { state: FilterState; className?: string }) {
  const { t, i18n } = useTranslation()
  const preview = usePreview(state)
  const fault = filterFault(state)
  const active = isActive(state)
  const show = (value: number) => formatNumber(value, i18n.language)
  let text: string
  if (fault) text = t(`filter.fault.${fault}`)
  else if (preview.error) text = errorText(preview.error, t)
  else if (!preview.data) text = t('filter.counting')
  else if (active) text = t('filter.matches', { count: preview.data.total_documents, eligible: show(preview.data.eligible_documents), total: show(preview.data.total_documents) })
  else text = t('filter.matchesAll', { count: preview.data.total_documents, total: show(preview.data.total_documents) })
  const none = active && preview.data?.eligible_documents === 0
  return (
    <p role="status" data-testid="preview-line" className={cn('flex min-h-5 items-center gap-2 text-[0.8125rem]', fault || preview.error || none ? 'text-danger' : active ? 'text-filter-ink' : 'text-muted', className)}>
      <span>{text}</span>
      {preview.isFetching ? <Spinner className="size-3" /> : null}
    </p>
  )
}
