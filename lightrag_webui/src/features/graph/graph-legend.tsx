import { useTranslation } from 'react-i18next'
import type { GraphNode } from '@/api/lightrag'
import { cn } from '@/lib/cn'
import { formatNumber } from '@/lib/format'
import { legendOf } from './graph-data'

interface LegendProps {
  nodes: readonly GraphNode[]
  hiddenKinds: ReadonlySet<string>
  onToggle: (kind: string) => void
  unknown: number
  unknownEdges: number
  /** Whether the scope is larger than what could be compared. */
  partly: boolean
}

/** Kinds of entities by colour; a click hides or shows one. */
export function GraphLegend({ nodes, hiddenKinds, onToggle, unknown, unknownEdges, partly }: LegendProps) {
  const { t, i18n } = useTranslation()
  const kinds = legendOf(nodes).slice(0, 12)
  return (
    <ul aria-label={t('graphPanel.legend')} className="pointer-events-auto flex max-h-72 max-w-60 max-md:max-h-44 flex-col overflow-y-auto rounded-xl border bg-raised/95 p-1.5 shadow-card">
      {unknown || unknownEdges ? (
        <li className="flex items-center gap-2 px-2 py-1 text-xs font-medium text-filter-ink">
          <span className="size-2.5 shrink-0 rounded-full bg-[#d0a343] dark:bg-[#b08a3c]" />
          {t('graphPanel.notKnownYet', { count: unknown })}
          {unknownEdges ? ` · ${t('graphPanel.relations', { count: unknownEdges })}` : null}
        </li>
      ) : null}
      {partly ? <li className="px-2 pb-1 text-xs leading-snug text-muted">{t('graphPanel.comparePartly')}</li> : null}
      {kinds.map(({ kind, count, color }) => (
        <li key={kind}>
          <button type="button" aria-pressed={!hiddenKinds.has(kind)} className={cn('flex w-full items-center gap-2 rounded-lg px-2 py-1 text-start text-xs hover:bg-sunken', hiddenKinds.has(kind) && 'line-through opacity-50')} onClick={() => onToggle(kind)}>
            <span className="size-2.5 shrink-0 rounded-full" style={{ background: color }} />
            <span className="min-w-0 flex-1 truncate">{t(`graphPanel.kind.${kind}`, { defaultValue: kind })}</span>
            <span className="text-muted tabular-nums">{formatNumber(count, i18n.language)}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
