import { ArrowLeftRight, Maximize2, Merge, Pencil, Target } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { GraphEdge, GraphNode } from '@/api/lightrag'
import { Button } from '@/components/ui/button'
import { Tooltip } from '@/components/ui/overlay'
import { EditDialog } from './edit-dialog'
import { edgeKey, evidenceOf, kindOf } from './graph-data'
import type { Selection } from './graph-paint'
import { MergeDialog } from './merge-dialog'
import { Frame, Knowledge, Section } from './panel-parts'
import type { ShownGraph } from './useLightragGraph'

interface ObjectPanelProps {
  shown: ShownGraph
  selection: Exclude<Selection, null>
  scope: string | null
  /** Whether all that is known is shown; only then what a person writes may replace it. */
  editable: boolean
  onSelect: (selection: Selection) => void
  onCentre: (name: string) => void
  onExpand: (name: string) => void
}

/** What is known of the entity or relation that was chosen, and from which documents. */
export function ObjectPanel({ selection, ...rest }: ObjectPanelProps) {
  const { nodes, edges } = rest.shown.data
  if (selection.type === 'node') {
    const node = nodes.find((one) => one.id === selection.name)
    return node ? <NodePanel key={node.id} node={node} {...rest} /> : null
  }
  const edge = edges.find((one) => edgeKey(one) === edgeKey(selection))
  return edge ? <EdgePanel key={edge.id} edge={edge} {...rest} /> : null
}

type PanelProps = Omit<ObjectPanelProps, 'selection'>

function NodePanel({ node, shown, scope, editable, onSelect, onCentre, onExpand }: PanelProps & { node: GraphNode }) {
  const { t } = useTranslation()
  const [dialog, setDialog] = useState<'edit' | 'merge' | null>(null)
  const known = shown.known?.nodes.find((one) => one.id === node.id)
  const neighbours = shown.data.edges
    .filter((edge) => edge.source === node.id || edge.target === node.id)
    .map((edge) => ({ edge, name: edge.source === node.id ? edge.target : edge.source }))
    .sort((a, b) => a.name.localeCompare(b.name))
  const edited = shown.known ? null : scope
  return (
    <Frame
      title={<bdi>{node.id}</bdi>}
      kind={t(`graphPanel.kind.${kindOf(node)}`, { defaultValue: kindOf(node) })}
      onClose={() => onSelect(null)}
      actions={
        <>
          <Button size="small" onClick={() => onExpand(node.id)}><Maximize2 />{t('graphPanel.expand')}</Button>
          <Button size="small" onClick={() => onCentre(node.id)}><Target />{t('graphPanel.centre')}</Button>
          <span className="flex-1" />
          <EditButtons editable={editable} onEdit={() => setDialog('edit')} onMerge={() => setDialog('merge')} />
        </>
      }
    >
      <Knowledge evidence={evidenceOf(node.properties)} {...(shown.known ? { known: known ? evidenceOf(known.properties) : null } : {})} scope={scope} />
      {neighbours.length ? (
        <Section title={t('graphPanel.relations', { count: neighbours.length })}>
          <ul className="flex flex-col">
            {neighbours.map(({ edge, name }) => (
              <li key={name}>
                <button type="button" className="w-full rounded-lg px-2 py-1.5 text-start hover:bg-sunken" onClick={() => onSelect({ type: 'edge', source: edge.source, target: edge.target })}>
                  <span className="flex items-center gap-2">
                    <bdi className="min-w-0 truncate text-sm">{name}</bdi>
                    {shown.hiddenEdges.has(edgeKey(edge)) ? <span className="shrink-0 rounded-full bg-filter px-1.5 text-[0.6875rem] leading-4 font-medium text-filter-ink">{t('graphPanel.unknownIn')}</span> : null}
                  </span>
                  <span className="block truncate text-xs text-muted">{String(edge.properties['keywords'] ?? '')}</span>
                </button>
              </li>
            ))}
          </ul>
        </Section>
      ) : null}
      {dialog === 'edit' ? <EditDialog target={{ type: 'node', node }} scope={edited} onClose={() => setDialog(null)} onGone={() => onSelect(null)} /> : null}
      {dialog === 'merge' ? <MergeDialog name={node.id} scope={edited} onClose={() => setDialog(null)} onMerged={(name) => onSelect({ type: 'node', name })} /> : null}
    </Frame>
  )
}

function EdgePanel({ edge, shown, scope, editable, onSelect }: PanelProps & { edge: GraphEdge }) {
  const { t } = useTranslation()
  const [editing, setEditing] = useState(false)
  const known = shown.known?.edges.find((one) => edgeKey(one) === edgeKey(edge))
  const end = (name: string) => (
    <button type="button" className="rounded text-start hover:text-brand-ink hover:underline" onClick={() => onSelect({ type: 'node', name })}>
      <bdi>{name}</bdi>
    </button>
  )
  return (
    <Frame
      title={<span className="flex flex-wrap items-center gap-x-2">{end(edge.source)}<ArrowLeftRight className="size-4 text-muted" aria-hidden />{end(edge.target)}</span>}
      kind={t('graphPanel.relation')}
      onClose={() => onSelect(null)}
      actions={<EditButtons editable={editable} onEdit={() => setEditing(true)} />}
    >
      {edge.properties['keywords'] ? <Section title={t('graphPanel.keywords')}><Keywords text={String(edge.properties['keywords'])} /></Section> : null}
      <Knowledge evidence={evidenceOf(edge.properties)} {...(shown.known ? { known: known ? evidenceOf(known.properties) : null } : {})} scope={scope} />
      {editing ? <EditDialog target={{ type: 'edge', edge }} scope={shown.known ? null : scope} onClose={() => setEditing(false)} onGone={() => onSelect(null)} /> : null}
    </Frame>
  )
}

function Keywords({ text }: { text: string }) {
  const words = [...new Set(text.split(/<SEP>|[,,、;]/).map((word) => word.trim()).filter(Boolean))]
  return (
    <ul className="flex flex-wrap gap-1">
      {words.map((word) => (
        <li key={word} className="max-w-full rounded-md bg-sunken px-1.5 py-0.5 text-xs leading-4 break-words"><bdi>{word}</bdi></li>
      ))}
    </ul>
  )
}

/** Changing what is known; behind a filter, which shows a part of it only, it says why not. */
function EditButtons({ editable, onEdit, onMerge }: { editable: boolean; onEdit: () => void; onMerge?: () => void }) {
  const { t } = useTranslation()
  const buttons = [
    { name: t('action.edit'), icon: Pencil, run: onEdit },
    ...(onMerge ? [{ name: t('graphPanel.merge'), icon: Merge, run: onMerge }] : []),
  ]
  return buttons.map(({ name, icon: Icon, run }) => (
    <Tooltip key={name} text={editable ? name : t('graphPanel.editFiltered')}>
      <Button size="icon-small" variant="ghost" aria-label={name} aria-disabled={!editable} className="aria-disabled:opacity-45" onClick={() => editable && run()}>
        <Icon />
      </Button>
    </Tooltip>
  ))
}
