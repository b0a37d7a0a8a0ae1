import { Slider } from 'radix-ui'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { Facets } from '@/api/lightrag'
import { cn } from '@/lib/cn'

interface HistogramProps {
  bars: Facets['histogram']
  from: string
  to: string
  onChange: (from: string, to: string) => void
}

const pad = (year: number) => String(Math.max(1, year)).padStart(4, '0')

/** When the documents of the corpus are from; the two handles choose a part of that time. */
export function DateHistogram({ bars, from, to, onChange }: HistogramProps) {
  const { t, i18n } = useTranslation()
  const most = useMemo(() => Math.max(1, ...bars.map((bar) => bar.documents)), [bars])
  const first = bars[0]
  const last = bars[bars.length - 1]
  if (!first || !last || bars.length < 2) return null

  const yearOf = (day: string, otherwise: number) => (day ? Number(day.slice(0, 4)) : otherwise)
  const indexOf = (year: number) => Math.min(bars.length - 1, Math.max(0, Math.floor((year - first.start_year) / first.years)))
  const low = indexOf(yearOf(from, first.start_year))
  const high = Math.max(low, indexOf(yearOf(to, last.start_year + last.years - 1)))
  const limited = Boolean(from || to)
  const labelOf = (index: number) => {
    const bar = bars[index]
    return bar ? String(bar.years === 1 ? bar.start_year : `${bar.start_year}–${bar.start_year + bar.years - 1}`) : ''
  }

  return (
    <div dir="ltr">
      <div className="flex h-16 items-end gap-px px-2" aria-hidden>
        {bars.map((bar, index) => (
          <div
            key={bar.start_year}
            title={`${labelOf(index)}: ${new Intl.NumberFormat(i18n.language).format(bar.documents)}`}
            className={cn('min-w-0 flex-1 rounded-t-[2px] transition-colors', limited && index >= low && index <= high ? 'bg-filter-line' : limited ? 'bg-line' : 'bg-brand/45')}
            style={{ height: `${bar.documents ? Math.max(6, (bar.documents / most) * 100) : 1.5}%` }}
          />
        ))}
      </div>
      <Slider.Root
        dir="ltr"
        min={0}
        max={bars.length - 1}
        value={[low, high]}
        className="relative flex h-5 touch-none items-center px-2 select-none"
        onValueChange={([start, end]) => {
          const a = bars[start ?? 0] ?? first
          const b = bars[end ?? bars.length - 1] ?? last
          const whole = a === first && b === last
          onChange(whole ? '' : `${pad(a.start_year)}-01-01`, whole ? '' : `${pad(b.start_year + b.years - 1)}-12-31`)
        }}
      >
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
        <span>{last.start_year + last.years - 1}</span>
      </div>
    </div>
  )
}
