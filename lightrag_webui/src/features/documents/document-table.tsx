import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { DocStatusResponse } from '@/api/lightrag'
import { Checkbox } from '@/components/ui/toggle'
import { cn } from '@/lib/cn'
import { COLUMNS, DocumentRow, type RowActions } from './document-row'

export type SortField = 'created_at' | 'updated_at' | 'id' | 'file_path'

export interface Sorting {
  field: SortField
  direction: 'asc' | 'desc'
  onSort: (field: SortField) => void
}

interface TableProps extends RowActions {
  documents: DocStatusResponse[]
  total: number
  selected: ReadonlySet<string>
  onSelectAll: (selected: boolean) => void
  sorting: Sorting
  stale: boolean
}

/** The documents of a page. Only the rows in view are in the page, however many there are. */
export function DocumentTable({ documents, total, selected, onSelectAll, sorting, stale, ...actions }: TableProps) {
  const { t } = useTranslation()
  const scroller = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: documents.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 66,
    getItemKey: (index) => documents[index]?.id ?? index,
    overscan: 8,
  })
  const chosen = documents.filter((one) => selected.has(one.id)).length
  return (
    <div ref={scroller} role="table" tabIndex={0} aria-label={t('documents.title')} aria-rowcount={total} className={cn('min-h-0 flex-1 overflow-auto outline-offset-[-2px] transition-opacity', stale && 'opacity-60')}>
      <div role="row" className={cn('sticky top-0 z-10 hidden items-center gap-x-3 border-b bg-sunken px-4 py-2 text-xs font-medium text-muted md:grid', COLUMNS)}>
        <div role="columnheader">
          <Checkbox checked={chosen === 0 ? false : chosen === documents.length ? true : 'indeterminate'} label={t('documents.selectAll')} onChange={onSelectAll} />
        </div>
        <SortHead field="file_path" text={t('documents.column.name')} sorting={sorting} />
        <div role="columnheader">{t('documents.column.status')}</div>
        <div role="columnheader">{t('documents.column.tags')}</div>
        <div role="columnheader">{t('documents.column.dates')}</div>
        <div role="columnheader">{t('documents.column.size')}</div>
        <SortHead field="updated_at" text={t('documents.column.updated')} sorting={sorting} />
        <div role="columnheader">
          <span className="sr-only">{t('documents.column.actions')}</span>
        </div>
      </div>
      <div role="rowgroup" style={{ height: rows.getTotalSize() }} className="relative">
        {rows.getVirtualItems().map((item) => {
          const document = documents[item.index]
          return document ? (
            <div key={item.key} ref={rows.measureElement} data-index={item.index} role="row" aria-rowindex={item.index + 2} className="absolute inset-x-0 top-0" style={{ transform: `translateY(${item.start}px)` }}>
              <DocumentRow document={document} selected={selected.has(document.id)} {...actions} />
            </div>
          ) : null
        })}
      </div>
    </div>
  )
}

function SortHead({ field, text, sorting }: { field: SortField; text: string; sorting: Sorting }) {
  const active = sorting.field === field
  const Icon = sorting.direction === 'asc' ? ArrowUp : ArrowDown
  return (
    <div role="columnheader" aria-sort={active ? (sorting.direction === 'asc' ? 'ascending' : 'descending') : 'none'}>
      <button type="button" className={cn('inline-flex items-center gap-1 rounded hover:text-ink', active && 'text-ink')} onClick={() => sorting.onSort(field)}>
        {text}
        <Icon className={cn('size-3.5', !active && 'opacity-0')} aria-hidden />
      </button>
    </div>
  )
}
