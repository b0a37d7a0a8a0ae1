import { useQueryClient } from '@tanstack/react-query'
import { ListFilter, Maximize, Minus, Plus, Shuffle, Waypoints } from 'lucide-react'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FilterChips } from '@/components/filters/chips'
import { FilterPanel } from '@/components/filters/filter-panel'
import { PreviewLine } from '@/components/filters/preview-line'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { EmptyState, ErrorNote, Spinner } from '@/components/ui/feedback'
import { isActive } from '@/lib/filters'
import { formatNumber } from '@/lib/format'
import { useIsDark } from '@/lib/theme'
import { useFilter, useParam } from '@/lib/use-filter'
import type { CanvasControls, Selection } from './graph-canvas'
import { joinGraphs } from './graph-data'
import { GraphLegend } from './graph-legend'
import { GraphSearch } from './graph-search'
import { ObjectPanel } from './object-panel'
import { ScopeSelect } from './scope-select'
import { DEPTHS, Settings, SIZES } from './Settings'
import { fetchGraphPart, useLightragGraph, type ShownGraph } from './useLightragGraph'

const GraphCanvas = lazy(() => import('./graph-canvas'))

/** The knowledge graph, as a whole, as a scope knows it, or as a filter leaves it. */
export default function GraphViewer() {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const dark = useIsDark()
  const [filter, setFilter] = useFilter()
  const [label, setLabel] = useParam('label', '*')
  const [scope, setScope] = useParam('scope')
  const [depthText, setDepth] = useParam('depth', '2')
  const [sizeText, setSize] = useParam('nodes', '500')
  const [compareText, setCompare] = useParam('compare')
  const [selection, setSelection] = useState<Selection>(null)
  const [hiddenKinds, setHiddenKinds] = useState<ReadonlySet<string>>(new Set())
  const [controls, setControls] = useState<CanvasControls | null>(null)
  const [panel, setPanel] = useState(false)

  const graphScopeTag = scope || null
  const compare = compareText === '1' && graphScopeTag !== null
  const view = {
    queryLabel: label,
    graphQueryMaxDepth: DEPTHS.find((one) => one === Number(depthText)) ?? 2,
    graphMaxNodes: SIZES.find((one) => one === Number(sizeText)) ?? 500,
    graphScopeTag,
    filter,
    compare,
  }
  const graph = useLightragGraph(view)
  const shown = graph.data
  const empty = shown && shown.data.nodes.length === 0

  const expand = useCallback(
    async (name: string) => {
      const more = await fetchGraphPart({ label: name, depth: 1, nodes: 200, scope: compare ? null : graphScopeTag }, filter)
      client.setQueriesData<ShownGraph>({ queryKey: ['graph'], type: 'active' }, (before) => (before ? { ...before, data: joinGraphs(before.data, more) } : before))
    },
    [client, graphScopeTag, compare, filter],
  )
  const toggle = useCallback((kind: string) => {
    setHiddenKinds((before) => {
      const next = new Set(before)
      if (!next.delete(kind)) next.add(kind)
      return next
    })
  }, [])
  const centre = (name: string) => {
    setLabel(name)
    setSelection(name === '*' ? null : { type: 'node', name })
  }
  const status = useMemo(() => {
    if (!shown) return ''
    const counts = t('graphPanel.counts', { nodes: formatNumber(shown.data.nodes.length, i18n.language), edges: formatNumber(shown.data.edges.length, i18n.language) })
    return shown.data.is_truncated ? `${counts} · ${t('graphPanel.truncated')}` : counts
  }, [shown, t, i18n.language])

  return (
    <div className="flex h-full flex-col">
      <div className="z-20 flex flex-wrap items-center gap-2 border-b bg-surface px-3 py-2.5">
        <h1 className="sr-only">{t('nav.graph')}</h1>
        <ScopeSelect value={graphScopeTag} onChange={(value) => { setScope(value ?? ''); setSelection(null) }} />
        <GraphSearch scope={compare ? null : graphScopeTag} centre={label} onCentre={centre} />
        <Settings depth={view.graphQueryMaxDepth} onDepth={(value) => setDepth(String(value))} size={view.graphMaxNodes} onSize={(value) => setSize(String(value))} compare={compare} onCompare={(value) => setCompare(value ? '1' : '')} canCompare={graphScopeTag !== null} around={label !== '*'} />
        <Button variant={isActive(filter) ? 'filter' : 'secondary'} onClick={() => setPanel(true)}>
          <ListFilter />
          {t('filter.title')}
        </Button>
        <span className="flex-1" />
        <span role="status" data-testid="graph-status" className="flex items-center gap-2 text-[0.8125rem] text-muted tabular-nums">
          {graph.isFetching ? <Spinner className="size-3.5" /> : null}
          {status}
        </span>
      </div>
      {isActive(filter) ? (
        <div className="flex flex-wrap items-center gap-3 border-b bg-surface px-3 py-2">
          <FilterChips state={filter} onChange={setFilter} onOpen={() => setPanel(true)} />
          <PreviewLine state={filter} />
        </div>
      ) : null}
      <div className="relative min-h-0 flex-1 overflow-hidden bg-page">
        {graph.error ? <ErrorNote error={graph.error} className="m-4" onRetry={() => void graph.refetch()} /> : null}
        {empty ? <EmptyState icon={Waypoints} title={t('graphPanel.empty')}>{graphScopeTag || isActive(filter) ? t('graphPanel.emptyLimited') : t('graphPanel.emptyText')}</EmptyState> : null}
        {shown && !empty && !graph.error ? (
          <Suspense fallback={<div className="flex h-full items-center justify-center text-brand-ink"><Spinner className="size-6" /></div>}>
            <GraphCanvas shown={shown} dark={dark} selection={selection} hiddenKinds={hiddenKinds} label={status} onSelect={setSelection} onExpand={(name) => void expand(name)} onReady={setControls} />
          </Suspense>
        ) : null}
        {shown && !empty ? (
          <>
            <div className="pointer-events-none absolute start-3 bottom-3 z-10 hidden md:block">
              <GraphLegend nodes={shown.data.nodes} hiddenKinds={hiddenKinds} onToggle={toggle} unknown={shown.hidden.size} />
            </div>
            <CanvasButtons controls={controls} />
          </>
        ) : null}
        {shown && selection ? <ObjectPanel data={shown.data} selection={selection} scope={graphScopeTag && !compare ? graphScopeTag : null} onSelect={(next) => { setSelection(next); if (next?.type === 'node') controls?.focus(next.name) }} onCentre={centre} onExpand={(name) => void expand(name)} /> : null}
      </div>
      <Dialog open={panel} onOpenChange={setPanel} layout="side" className="sm:max-w-md" title={t('filter.title')} description={t('graphPanel.filterText')} footer={<PreviewLine state={filter} className="me-auto" />}>
        <FilterPanel state={filter} onChange={setFilter} />
      </Dialog>
    </div>
  )
}

function CanvasButtons({ controls }: { controls: CanvasControls | null }) {
  const { t } = useTranslation()
  const buttons = [
    { name: t('graphPanel.zoomIn'), icon: Plus, run: () => controls?.zoom(1.5) },
    { name: t('graphPanel.zoomOut'), icon: Minus, run: () => controls?.zoom(1 / 1.5) },
    { name: t('graphPanel.fit'), icon: Maximize, run: () => controls?.reset() },
    { name: t('graphPanel.arrange'), icon: Shuffle, run: () => controls?.arrange() },
  ]
  return (
    <div className="absolute start-3 top-3 z-10 flex flex-col overflow-hidden rounded-xl border bg-raised shadow-card">
      {buttons.map(({ name, icon: Icon, run }) => (
        <Button key={name} variant="ghost" size="icon-small" className="rounded-none" aria-label={name} title={name} onClick={run}>
          <Icon />
        </Button>
      ))}
    </div>
  )
}
