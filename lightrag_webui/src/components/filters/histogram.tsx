import { Slider } from 'radix-ui'
import { useMemo, useRef, useState, type PointerEvent } from 'react'
import { useTranslation } from 'react-i18next'
import type { Facets } from '@/api/lightrag'
import { cn } from '@/lib/cn'
import { formatNumber } from '@/lib/format'

interface HistogramProps {
  bars: Facets['histogram']
  from: string
  to: string
  onChange: (from: string, to: string) => void
}

const pad = (year: number) => String(Math.max(1, year)).padStart(4, '0')

/** When the documents of the corpus are from. Drawing over the bars, or the two handles, choose a part of that time. */
export function DateHistogram({ bars, from, to, onChange }: HistogramProps) {
  const { t, i18n } = useTranslation()
  const most = useMemo(() => Math.max(1, ...bars.map((bar) => bar.documents)), [bars])
  // While somebody draws only the picture changes; the filter does when the hand lets go.
  const [draft, setDraft] = useState<readonly [number, number] | null>(null)
  const anchor = useRef(0)
  const first = bars[0]
  const last = bars[bars.length - 1]
  if (!first || !last || bars.length < 2) return null

  const yearOf = (day: string, otherwise: number) => (day ? Number(day.slice(0, 4)) : otherwise)
  const indexOf = (year: number) => Math.min(bars.length - 1, Math.max(0, Math.floor((year - first.start_year) / first.years)))
  const chosen = [indexOf(yearOf(from, first.start_year)), indexOf(yearOf(to, last.start_year + last.years - 1))] as const
  const [low, high] = draft ?? [chosen[0], Math.max(...chosen)]
  const limited = draft !== null || Boolean(from || to)
  const labelOf = (index: number) => {
    const bar = bars[index]
    return bar ? String(bar.years === 1 ? bar.start_year : `${bar.start_year}–${bar.start_year + bar.years - 1}`) : ''
  }
  const commit = (start: number, end: number) => {
    setDraft(null)
    const [a, b] = [bars[start] ?? first, bars[end] ?? last]
    const whole = a === first && b === last
    onChange(whole ? '' : `${pad(a.start_year)}-01-01`, whole ? '' : `${pad(b.start_year + b.years - 1)}-12-31`)
  }
  const barAt = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.min(bars.length - 1, Math.max(0, Math.floor(((event.clientX - box.left - 8) / (box.width - 16)) * bars.length)))
  }
  const between = (index: number) => [Math.min(anchor.current, index), Math.max(anchor.current, index)] as const

  return (
    <div dir="ltr">
      <div
        aria-hidden
        data-testid="histogram"
        className="flex h-18 cursor-crosshair touch-pan-y items-end gap-px px-2 select-none"
        onPointerDown={(event) => {
          if (event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          anchor.current = barAt(event)
          setDraft([anchor.current, anchor.current])
        }}
        onPointerMove={(event) => {
          if (draft && event.currentTarget.hasPointerCapture(event.pointerId)) setDraft(between(barAt(event)))
        }}
        onPointerUp={(event) => {
          if (draft) commit(...between(barAt(event)))
        }}
        onPointerCancel={() => setDraft(null)}
      >
        {bars.map((bar, index) => (
          <div key={bar.start_year} title={`${labelOf(index)}: ${formatNumber(bar.documents, i18n.language)}`} className={cn('flex h-full min-w-0 flex-1 items-end', limited && index >= low && index <= high && 'bg-filter')}>
            <div
              className={cn('w-full rounded-t-[2px] transition-colors', limited && index >= low && index <= high ? 'bg-filter-line' : limited ? 'bg-line' : 'bg-brand/45')}
              style={{ height: `${bar.documents ? Math.max(6, (bar.documents / most) * 100) : 1.5}%` }}
            />
          </div>
        ))}
      </div>
      <Slider.Root dir="ltr" min={0} max={bars.length - 1} value={[low, high]} className="relative flex h-5 touch-none items-center px-2 select-none" onValueChange={([start, end]) => setDraft([start ?? 0, end ?? bars.length - 1])} onValueCommit={([start, end]) => commit(start ?? 0, end ?? bars.length - 1)}>
        <Slider.Track className="relative h-1 flex-1 rounded-full bg-line">
          <Slider.Range className={cn('absolute h-full rounded-full', limited ? 'bg-filter-line' : 'bg-brand/45')} />
        </Slider.Track>
        {[low, high].map((index, which) => (
          <Slider.Thumb
            // oxlint-disable-next-line react/no-array-index-key
            key={which}
            aria-label={which ? t('filter.lastYear') : t('filter.firstYear')}
            aria-valuetext={labelOf(index)}
            className="block size-4 cursor-grab rounded-full border-2 border-brand bg-surface shadow-card"
          />
        ))}
      </Slider.Root>
      <div className="flex justify-between px-2 text-xs text-muted tabular-nums">
        <span>{first.start_year}</span>
        {limited ? <span className="font-medium text-filter-ink">{low === high ? labelOf(low) : `${bars[low]?.start_year} – ${(bars[high]?.start_year ?? 0) + first.years - 1}`}</span> : null}
        <span>{last.start_year + last.years - 1}</span>
      </div>
    </div>
  )
}
