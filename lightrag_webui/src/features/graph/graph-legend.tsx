import { useTranslation } from 'react-i18next'
import type { GraphNode } from '@/api/lightrag'
import { cn } from '@/lib/cn'
import { legendOf } from './graph-data'

interface LegendProps {
  nodes: readonly GraphNode[]
  hiddenKinds: ReadonlySet<string>
  onToggle: (kind: string) => void
  unknown: number
}

/** Kinds of entities by colour; a click hides or shows one. */
export function GraphLegend({ nodes, hiddenKinds, onToggle, unknown }: LegendProps) {
  const { t } = useTranslation()
  const kinds = legendOf(nodes).slice(0, 12)
  return (
    <ul aria-label={t('graphPanel.legend')} className="pointer-events-auto flex max-h-60 max-w-56 flex-col overflow-y-auto rounded-xl border bg-raised/95 p-1.5 shadow-card">
      {unknown ? (
        <li className="flex items-center gap-2 px-2 py-1 text-xs font-medium text-filter-ink">
          <span className="size-2.5 rounded-full bg-[#c9a24a]" />
          {t('graphPanel.notKnownYet', { count: unknown })}
        </li>
      ) : null}
      {kinds.map(({ kind, count, color }) => (
        <li key={kind}>
          <button type="button" aria-pressed={!hiddenKinds.has(kind)} className={cn('flex w-full items-center gap-2 rounded-lg px-2 py-1 text-start text-xs hover:bg-sunken', hiddenKinds.has(kind) && 'line-through opacity-50')} onClick={() => onToggle(kind)}>
            <span className="size-2.5 shrink-0 rounded-full" style={{ background: color }} />
            <span className="min-w-0 flex-1 truncate">{t(`graphPanel.kind.${kind}`, { defaultValue: kind })}</span>
            <span className="text-muted tabular-nums">{count}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
