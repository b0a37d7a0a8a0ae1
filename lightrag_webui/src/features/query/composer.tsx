import { ArrowUp, ListFilter, Square, Waypoints } from 'lucide-react'
import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { FilterChips } from '@/components/filters/chips'
import { PreviewLine } from '@/components/filters/preview-line'
import { Button } from '@/components/ui/button'
import { Select } from '@/components/ui/input'
import { filterQuery } from '@/lib/filter-url'
import { filterFault, isActive, type FilterState } from '@/lib/filters'
import type { SetFilter } from '@/lib/use-filter'
import { MODES, type Mode } from './settings'

interface ComposerProps {
  filter: FilterState
  onFilter: SetFilter
  mode: Mode
  onMode: (mode: Mode) => void
  running: boolean
  onAsk: (question: string) => void
  onStop: () => void
  onPanel: () => void
  panelOpen: boolean
}

/** Where a question is written, below what it is limited to. */
export function Composer({ filter, onFilter, mode, onMode, running, onAsk, onStop, onPanel, panelOpen }: ComposerProps) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const input = useRef<HTMLTextAreaElement>(null)
  const ready = text.trim().length > 0 && !running && filterFault(filter) === null

  useEffect(() => {
    input.current?.focus()
  }, [])

  const submit = () => {
    if (!ready) return
    onAsk(text.trim())
    setText('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that ends the writing of a Chinese, Japanese or Korean word does not send.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit()
  }

  return (
    <div className="shrink-0 px-4 pb-3 sm:pb-5">
      <div className="mx-auto flex w-full max-w-3xl flex-col gap-2">
        <FilterChips state={filter} onChange={onFilter} onOpen={onPanel}>
          <Link to={`/graph?${filterQuery(filter)}`} className="inline-flex items-center gap-1 rounded px-1.5 text-[0.8125rem] font-medium text-brand-ink underline-offset-2 hover:underline">
            <Waypoints className="size-3.5" aria-hidden />
            {t('filter.toGraph')}
          </Link>
        </FilterChips>
        <form
          className="rounded-2xl border bg-surface shadow-float transition-colors focus-within:border-brand"
          onSubmit={(event) => {
            event.preventDefault()
            submit()
          }}
        >
          <textarea
            ref={input}
            rows={1}
            dir="auto"
            value={text}
            aria-label={t('ask.placeholder')}
            placeholder={t('ask.placeholder')}
            className="field-sizing-content max-h-[40dvh] min-h-13 w-full resize-none bg-transparent px-4 pt-3.5 pb-1 text-[0.9375rem] leading-relaxed outline-none placeholder:text-muted"
            onChange={(event) => setText(event.target.value)}
            onKeyDown={onKeyDown}
          />
          <div className="flex items-center gap-2 px-2.5 pb-2.5">
            <Button size="small" variant={isActive(filter) ? 'filter' : 'ghost'} aria-expanded={panelOpen} onClick={onPanel}>
              <ListFilter />
              {t('filter.title')}
            </Button>
            <Select aria-label={t('ask.mode.label')} title={t(`ask.mode.${mode}Hint`)} className="w-auto max-w-56 [&>select]:field-sizing-content [&>select]:h-8 [&>select]:border-transparent [&>select]:bg-transparent [&>select]:text-[0.8125rem] [&>select]:shadow-none" value={mode} onChange={(event) => onMode(event.target.value as Mode)}>
              {MODES.map((one) => (
                <option key={one} value={one}>
                  {t(`ask.mode.${one}`)}
                </option>
              ))}
            </Select>
            <span className="flex-1" />
            {running ? (
              <Button variant="secondary" size="icon" className="rounded-xl" aria-label={t('action.stop')} onClick={onStop}>
                <Square className="fill-current" />
              </Button>
            ) : (
              <Button type="submit" variant="primary" size="icon" className="rounded-xl" aria-label={t('ask.send')} disabled={!ready}>
                <ArrowUp />
              </Button>
            )}
          </div>
        </form>
        {mode === 'bypass' && isActive(filter) ? <p role="status" className="min-h-5 text-center text-[0.8125rem] text-danger">{t('ask.mode.bypassHint')}</p> : <PreviewLine state={filter} className="justify-center" />}
      </div>
    </div>
  )
}
