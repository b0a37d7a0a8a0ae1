import { Ellipsis, FolderSearch, ListFilter, RotateCcw, ScrollText, Search, Trash2, UploadCloud } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '@/components/ui/button'
import { Input } from '@/components/ui/input'
import { Menu, MenuItem } from '@/components/ui/overlay'
import { cn } from '@/lib/cn'
import { formatNumber } from '@/lib/format'
import { useRetryFailed, useScan } from './use-documents'

const STATES = ['all', 'processed', 'processing', 'pending', 'failed'] as const
export type StateFilter = (typeof STATES)[number]

/** States that a person tells apart, and those of the server behind them. */
export const STATES_OF = {
  all: undefined,
  processed: ['processed'],
  processing: ['parsing', 'analyzing', 'processing', 'preprocessed'],
  pending: ['pending'],
  failed: ['failed'],
} as const

export const toStateFilter = (value: string): StateFilter => STATES.find((one) => one === value) ?? 'all'

interface ToolbarProps {
  /** Documents of each state; `null` where they cannot be told. */
  counts: Record<string, number> | null
  failed: number
  empty: boolean
  state: StateFilter
  onState: (state: StateFilter) => void
  text: string
  onText: (text: string) => void
  filtered: boolean
  onFilter: () => void
  onUpload: () => void
  onLog: () => void
  onClearAll: () => void
}

export function DocumentToolbar({ counts, failed, empty, state, onState, text, onText, filtered, onFilter, onUpload, onLog, onClearAll }: ToolbarProps) {
  const { t, i18n } = useTranslation()
  const scan = useScan()
  const retry = useRetryFailed()
  const countOf = (one: StateFilter) => (one === 'all' ? (counts?.['all'] ?? 0) : (STATES_OF[one] ?? []).reduce((sum, name) => sum + (counts?.[name] ?? 0), 0))
  return (
    <div className="flex flex-col gap-3 px-4 pt-4 pb-3">
      <div className="flex items-center gap-2">
        <h1 className="me-auto text-xl font-semibold">{t('documents.title')}</h1>
        {failed ? (
          <Button size="medium" disabled={retry.isPending} onClick={() => retry.mutate()}>
            <RotateCcw />
            <span className="hidden sm:inline">{t('documents.retryFailed', { count: failed })}</span>
          </Button>
        ) : null}
        <Button variant="primary" onClick={onUpload}>
          <UploadCloud />
          {t('upload.open')}
        </Button>
        <Menu
          trigger={
            <Button size="icon" aria-label={t('documents.more')}>
              <Ellipsis />
            </Button>
          }
        >
          <MenuItem onSelect={() => scan.mutate()}>
            <FolderSearch />
            {t('documents.scan')}
          </MenuItem>
          <MenuItem onSelect={onLog}>
            <ScrollText />
            {t('pipeline.log')}
          </MenuItem>
          <MenuItem danger disabled={empty} onSelect={onClearAll}>
            <Trash2 />
            {t('documents.clearAll')}
          </MenuItem>
        </Menu>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <span className="relative min-w-40 flex-1 sm:max-w-72">
          <Search className="pointer-events-none absolute start-2.5 top-1/2 size-4 -translate-y-1/2 text-muted" aria-hidden />
          <Input type="search" value={text} aria-label={t('documents.search')} placeholder={t('documents.search')} className="ps-8" onChange={(event) => onText(event.target.value)} />
        </span>
        <Button variant={filtered ? 'filter' : 'secondary'} onClick={onFilter}>
          <ListFilter />
          {t('filter.title')}
        </Button>
        <div role="radiogroup" aria-label={t('documents.column.status')} className="no-scrollbar -mx-1 flex max-w-full gap-0.5 overflow-x-auto p-1">
          {STATES.map((one) => (
            <label
              key={one}
              className={cn(
                'relative flex h-8 cursor-pointer items-center gap-1.5 rounded-lg px-2.5 text-[0.8125rem] font-medium whitespace-nowrap has-focus-visible:outline-2 has-focus-visible:outline-brand',
                state === one ? 'bg-brand-soft text-brand-ink' : 'text-muted hover:bg-sunken hover:text-ink',
              )}
            >
              <input type="radio" name="document-state" className="sr-only" checked={state === one} onChange={() => onState(one)} />
              {t(`documents.state.${one}`)}
              {counts ? <span className={cn('text-xs tabular-nums', one === 'failed' && countOf(one) ? 'text-danger' : '')}>{formatNumber(countOf(one), i18n.language)}</span> : null}
            </label>
          ))}
        </div>
      </div>
    </div>
  )
}
