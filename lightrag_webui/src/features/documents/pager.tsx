import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '@/components/ui/button'
import { Select } from '@/components/ui/input'
import { formatNumber } from '@/lib/format'

export const PAGE_SIZES = [50, 100, 200]

interface PagerProps {
  page: number
  pages: number
  size: number
  total: number
  onPage: (page: number) => void
  onSize: (size: number) => void
}

export function Pager({ page, pages, size, total, onPage, onSize }: PagerProps) {
  const { t, i18n } = useTranslation()
  const show = (value: number) => formatNumber(value, i18n.language)
  return (
    <nav aria-label={t('pager.label')} className="flex shrink-0 flex-wrap items-center gap-3 border-t bg-surface px-4 py-2 text-[0.8125rem] text-muted">
      <span className="me-auto tabular-nums">{t('pager.range', { from: show(total ? (page - 1) * size + 1 : 0), to: show(Math.min(total, page * size)), total: show(total) })}</span>
      <span className="hidden items-center gap-2 sm:flex">
        <span id="page-size">{t('pager.size')}</span>
        <Select aria-labelledby="page-size" className="w-20" value={size} onChange={(event) => onSize(Number(event.target.value))}>
          {PAGE_SIZES.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </Select>
      </span>
      <Button size="icon-small" aria-label={t('pager.previous')} disabled={page <= 1} onClick={() => onPage(page - 1)}>
        <ChevronLeft className="rtl:rotate-180" />
      </Button>
      <span className="tabular-nums">{t('pager.page', { page: show(page), pages: show(Math.max(1, pages)) })}</span>
      <Button size="icon-small" aria-label={t('pager.next')} disabled={page >= pages} onClick={() => onPage(page + 1)}>
        <ChevronRight className="rtl:rotate-180" />
      </Button>
    </nav>
  )
}
