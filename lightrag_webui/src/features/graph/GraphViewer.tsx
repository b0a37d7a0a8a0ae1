import { useQueryClient } from '@tanstack/react-query'
import { GitCompareArrows, ListFilter, MessagesSquare, Waypoints } from 'lucide-react'
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { toast } from 'sonner'
import { FilterChips } from '@/components/filters/chips'
import { FilterPanel } from '@/components/filters/filter-panel'
import { PreviewLine } from '@/components/filters/preview-line'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { EmptyState, ErrorNote, Spinner } from '@/components/ui/feedback'
import { Tooltip } from '@/components/ui/overlay'
import { errorText } from '@/lib/errors'
import { filterQuery } from '@/lib/filter-url'
import { emptyFilter, isActive } from '@/lib/filters'
import { formatNumber } from '@/lib/format'
import { useIsDark } from '@/lib/theme'
import { CanvasTools } from './canvas-tools'
import type { CanvasControls } from './graph-canvas'
import { joinGraphs } from './graph-data'
import type { Selection } from './graph-paint'
import { GraphSearch } from './graph-search'
import { ObjectPanel } from './object-panel'
import { ScopeSelect } from './scope-select'
import { Settings } from './Settings'
import { useGraphAddress } from './use-graph-address'
import { fetchGraphPart, showGraph, useLightragGraph, type ShownGraph } from './useLightragGraph'

const GraphCanvas = lazy(() => import('./graph-canvas'))

/** The knowledge graph, as a whole, as a scope knows it, or as a filter leaves it. */
export default function GraphViewer() {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const dark = useIsDark()
  const address = useGraphAddress()
  const { view, filter, setFilter } = address
  const { graphScopeTag: scope, compare, queryLabel: label } = view
  const [selection, setSelection] = useState<Selection>(null)
  const [hiddenKinds, setHiddenKinds] = useState<ReadonlySet<string>>(new Set())
  const [controls, setControls] = useState<CanvasControls | null>(null)
  const [panel, setPanel] = useState(false)
  const places = useRef({ label, at: {} })
  const graph = useLightragGraph(view, address.ready)
  const shown = graph.error ? undefined : graph.data
  const empty = shown && shown.data.nodes.length === 0
  const filtered = isActive(view.filter)

  const expand = useCallback(
    async (name: string) => {
      try {
        const more = await fetchGraphPart({ label: name, depth: 1, nodes: 200, scope: compare ? null : scope }, view.filter)
        client.setQueriesData<ShownGraph>({ queryKey: ['graph'], type: 'active' }, (before) => (before ? showGraph(joinGraphs(before.data, more), before.known) : before))
      } catch (error) {
        toast.error(errorText(error, t))
      }
    },
    [client, scope, compare, view.filter, t],
  )
  const toggle = useCallback((kind: string) => {
    setHiddenKinds((before) => {
      const next = new Set(before)
      if (!next.delete(kind)) next.add(kind)
      return next
    })
  }, [])
  const centre = (name: string) => {
    address.setLabel(name)
    setSelection(name === '*' ? null : { type: 'node', name })
  }
  const status = useMemo(() => {
    if (!shown) return ''
    const counts = t('graphPanel.counts', { nodes: formatNumber(shown.data.nodes.length, i18n.language), edges: formatNumber(shown.data.edges.length, i18n.language) })
    return shown.data.is_truncated ? `${counts} · ${t('graphPanel.truncated')}` : counts
  }, [shown, t, i18n.language])
  // As a question would be limited: scope and filter together.
  const whole = { ...view.filter, required: scope ? [...view.filter.required, scope] : view.filter.required }

  return (
    <div className="flex h-full flex-col">
      <div className="z-20 flex flex-wrap items-center gap-2 border-b bg-surface px-3 py-2.5">
        <h1 className="sr-only">{t('nav.graph')}</h1>
        <ScopeSelect value={scope} onChange={(value) => { address.setScope(value); setSelection(null) }} />
        {scope ? (
          <Tooltip text={t('graphPanel.compareHint')}>
            <Button variant={compare ? 'filter' : 'secondary'} aria-pressed={compare} onClick={() => address.setCompare(!compare)}>
              <GitCompareArrows />
              <span className="max-lg:sr-only">{t('graphPanel.compare')}</span>
            </Button>
          </Tooltip>
        ) : null}
        <GraphSearch scope={compare ? null : scope} filter={view.filter} centre={label} onCentre={centre} />
        <Settings depth={view.graphQueryMaxDepth} onDepth={(value) => address.setDepth(String(value))} size={view.graphMaxNodes} onSize={(value) => address.setSize(String(value))} around={label !== '*'} limit={address.limit} />
        <Button variant={filtered ? 'filter' : 'secondary'} onClick={() => setPanel(true)}>
          <ListFilter />
          <span className="max-sm:sr-only">{t('filter.title')}</span>
        </Button>
        {filtered || scope ? (
          <Link to={`/ask?${filterQuery(whole)}`} className="inline-flex h-9 items-center gap-1.5 rounded-lg px-2 text-sm font-medium text-brand-ink hover:bg-sunken">
            <MessagesSquare className="size-4" aria-hidden />
            <span className="max-sm:sr-only">{t('filter.toAsk')}</span>
          </Link>
        ) : null}
        <span className="flex-1" />
        <span role="status" data-testid="graph-status" className="flex items-center gap-2 text-[0.8125rem] text-muted tabular-nums">
          {graph.isFetching ? <Spinner className="size-3.5" /> : null}
          {status}
        </span>
      </div>
      {isActive(filter) ? (
        <div className="flex flex-wrap items-center gap-3 border-b bg-surface px-3 py-2">
          <FilterChips state={filter} onChange={setFilter} onOpen={() => setPanel(true)} />
          <PreviewLine state={whole} />
        </div>
      ) : null}
      <div className="relative min-h-0 flex-1 overflow-hidden bg-page">
        {graph.error ? <ErrorNote error={graph.error} className="m-4" onRetry={() => void graph.refetch()} /> : null}
        {empty ? <EmptyState icon={Waypoints} title={t('graphPanel.empty')}><p>{scope || filtered ? t('graphPanel.emptyLimited') : t('graphPanel.emptyText')}</p>{filtered ? <Button onClick={() => setFilter(emptyFilter(filter.zone))}>{t('filter.clearAll')}</Button> : null}</EmptyState> : null}
        {shown || graph.error ? null : <Waiting />}
        {shown && !empty ? (
          <>
            <Suspense fallback={<Waiting />}>
              <GraphCanvas shown={shown} dark={dark} selection={selection} hiddenKinds={hiddenKinds} label={status} around={label} memory={places} className={selection ? 'max-md:bottom-[58%] md:end-94' : undefined} onSelect={setSelection} onExpand={(name) => void expand(name)} onReady={setControls} />
            </Suspense>
            <CanvasTools controls={controls} shown={shown} hiddenKinds={hiddenKinds} onToggle={toggle} />
          </>
        ) : null}
        {shown && selection ? (
          <ObjectPanel shown={shown} selection={selection} scope={scope} editable={!filtered} onSelect={(next) => { setSelection(next); if (next?.type === 'node') controls?.focus(next.name) }} onCentre={centre} onExpand={(name) => void expand(name)} />
        ) : null}
      </div>
      <Dialog open={panel} onOpenChange={setPanel} layout="side" className="sm:max-w-md" title={t('filter.title')} description={t('graphPanel.filterText')} footer={<PreviewLine state={whole} className="me-auto" />}>
        <FilterPanel state={filter} onChange={setFilter} />
      </Dialog>
    </div>
  )
}

const Waiting = () => <div className="flex h-full items-center justify-center text-brand-ink"><Spinner className="size-6" /></div>
