import { Ellipsis, Pencil, RotateCcw, Trash2 } from 'lucide-react'
import { memo } from 'react'
import { useTranslation } from 'react-i18next'
import type { DocStatusResponse } from '@/api/lightrag'
import { DocumentDates } from '@/components/document-dates'
import { TagList } from '@/components/tags'
import { Button } from '@/components/ui/button'
import { Menu, MenuItem } from '@/components/ui/overlay'
import { Checkbox } from '@/components/ui/toggle'
import { cn } from '@/lib/cn'
import { getDocumentTitle } from '@/lib/documentMetadata'
import { formatMoment, formatSize } from '@/lib/format'
import { SourceLink, StatusBadge } from './document-parts'

export const COLUMNS = 'md:grid-cols-[2rem_minmax(14rem,2.2fr)_7.5rem_minmax(10rem,1.5fr)_minmax(9rem,1fr)_5.5rem_9.5rem_2.5rem]'

export interface RowActions {
  onOpen: (id: string) => void
  onSelect: (id: string, selected: boolean) => void
  onEdit: (document: DocStatusResponse) => void
  onDelete: (ids: string[]) => void
  onRetry: (id: string) => void
}

interface RowProps extends RowActions {
  document: DocStatusResponse
  selected: boolean
}

export const DocumentRow = memo(function DocumentRow({ document, selected, onOpen, onSelect, onEdit, onDelete, onRetry }: RowProps) {
  const { t, i18n } = useTranslation()
  const title = getDocumentTitle(document)
  return (
    <div className={cn('grid grid-cols-[2rem_minmax(0,1fr)_2.5rem] items-start gap-x-3 gap-y-2 border-b px-4 py-3 md:items-center', COLUMNS, selected ? 'bg-brand-soft/60' : 'hover:bg-sunken/60')}>
      <div role="cell" className="pt-0.5 md:pt-0">
        <Checkbox checked={selected} label={t('documents.select', { name: title })} onChange={(value) => onSelect(document.id, value)} />
      </div>
      <div role="cell" className="min-w-0">
        <span className="flex items-center gap-2">
          <button type="button" className="min-w-0 truncate rounded text-start text-sm font-medium hover:text-brand-ink hover:underline" onClick={() => onOpen(document.id)}>
            <bdi>{title}</bdi>
          </button>
          <SourceLink meta={document.meta} />
        </span>
        <p className="truncate text-xs text-muted" title={document.file_path}>
          <bdi dir="ltr">{document.file_path}</bdi>
        </p>
        {document.error_msg ? <p className="mt-0.5 truncate text-xs text-danger" title={document.error_msg}>{document.error_msg}</p> : null}
      </div>
      <div role="cell" className="col-start-2 row-start-2 md:col-auto md:row-auto">
        <StatusBadge status={document.status} />
      </div>
      <div role="cell" className="col-start-2 min-w-0 md:col-auto">
        <TagList tags={document.tags ?? []} limit={4} />
      </div>
      <div role="cell" className="col-start-2 text-[0.8125rem] leading-snug md:col-auto">
        <DocumentDates start={document.start_date} end={document.end_date} />
      </div>
      <div role="cell" className="hidden text-[0.8125rem] text-muted tabular-nums md:block" title={document.chunks_count == null ? undefined : t('documents.chunks', { count: document.chunks_count })}>
        {formatSize(document.content_length, i18n.language)}
      </div>
      <div role="cell" className="hidden text-[0.8125rem] text-muted md:block">
        {formatMoment(document.updated_at, i18n.language)}
      </div>
      <div role="cell" className="col-start-3 row-start-1 md:col-auto md:row-auto">
        <Menu
          trigger={
            <Button variant="ghost" size="icon-small" className="text-muted" aria-label={t('documents.actions', { name: title })}>
              <Ellipsis />
            </Button>
          }
        >
          {document.status === 'failed' ? (
            <MenuItem onSelect={() => onRetry(document.id)}>
              <RotateCcw />
              {t('action.retry')}
            </MenuItem>
          ) : null}
          <MenuItem onSelect={() => onEdit(document)}>
            <Pencil />
            {t('metadata.edit')}
          </MenuItem>
          <MenuItem danger onSelect={() => onDelete([document.id])}>
            <Trash2 />
            {t('action.delete')}
          </MenuItem>
        </Menu>
      </div>
    </div>
  )
})
