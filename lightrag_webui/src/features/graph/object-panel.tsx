import { ArrowLeftRight, Maximize2, Merge, Pencil, Target, X } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { GraphEdge, GraphNode, GraphResponse } from '@/api/lightrag'
import { Button } from '@/components/ui/button'
import { EditDialog } from './edit-dialog'
import { Evidence } from './evidence'
import type { Selection } from './graph-canvas'
import { evidenceOf, kindOf } from './graph-data'
import { MergeDialog } from './merge-dialog'

interface ObjectPanelProps {
  data: GraphResponse
  selection: Exclude<Selection, null>
  scope: string | null
  onSelect: (selection: Selection) => void
  onCentre: (name: string) => void
  onExpand: (name: string) => void
}

/** What is known of the entity or relation that was chosen, and from which documents. */
export function ObjectPanel({ data, selection, ...rest }: ObjectPanelProps) {
  if (selection.type === 'node') {
    const node = data.nodes.find((one) => one.id === selection.name)
    return node ? <NodePanel key={node.id} node={node} data={data} {...rest} /> : null
  }
  const { source, target } = selection
  const edge = data.edges.find((one) => (one.source === source && one.target === target) || (one.source === target && one.target === source))
  return edge ? <EdgePanel key={edge.id} edge={edge} {...rest} /> : null
}

type PanelProps = Omit<ObjectPanelProps, 'selection' | 'data'>

function Frame({ title, kind, onClose, actions, children }: { title: ReactNode; kind: ReactNode; onClose: () => void; actions: ReactNode; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <aside aria-label={t('graphPanel.details')} data-testid="object-panel" className="absolute inset-x-2 bottom-2 z-10 flex max-h-[60%] flex-col overflow-hidden rounded-2xl border bg-raised shadow-float md:inset-x-auto md:end-3 md:top-3 md:bottom-3 md:max-h-none md:w-88">
      <header className="flex items-start gap-2 px-4 pt-3.5 pb-2">
        <div className="min-w-0 flex-1">
          <p className="text-xs font-medium text-muted">{kind}</p>
          <h2 className="text-base leading-snug font-semibold break-words">{title}</h2>
        </div>
        <Button variant="ghost" size="icon-small" aria-label={t('action.close')} onClick={onClose}>
          <X />
        </Button>
      </header>
      <div className="flex flex-wrap gap-1.5 px-4 pb-3">{actions}</div>
      <div className="flex min-h-0 flex-1 flex-col gap-5 overflow-y-auto border-t px-4 py-4">{children}</div>
    </aside>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-1.5 text-xs font-semibold text-muted">{title}</h3>
      {children}
    </section>
  )
}

function Descriptions({ texts }: { texts: string[] }) {
  const { t } = useTranslation()
  if (!texts.length) return <p className="text-sm text-muted italic">{t('graphPanel.noDescription')}</p>
  return (
    <div className="flex flex-col gap-2 text-sm leading-relaxed" dir="auto">
      {texts.map((text) => (
        <p key={text} className="break-words">{text}</p>
      ))}
    </div>
  )
}

function NodePanel({ node, data, scope, onSelect, onCentre, onExpand }: PanelProps & { node: GraphNode; data: GraphResponse }) {
  const { t } = useTranslation()
  const [dialog, setDialog] = useState<'edit' | 'merge' | null>(null)
  const evidence = evidenceOf(node.properties)
  const neighbours = data.edges
    .filter((edge) => edge.source === node.id || edge.target === node.id)
    .map((edge) => ({ edge, name: edge.source === node.id ? edge.target : edge.source }))
    .sort((a, b) => a.name.localeCompare(b.name))
  return (
    <Frame
      title={<bdi>{node.id}</bdi>}
      kind={t(`graphPanel.kind.${kindOf(node)}`, { defaultValue: kindOf(node) })}
      onClose={() => onSelect(null)}
      actions={
        <>
          <Button size="small" onClick={() => onExpand(node.id)}><Maximize2 />{t('graphPanel.expand')}</Button>
          <Button size="small" onClick={() => onCentre(node.id)}><Target />{t('graphPanel.centre')}</Button>
          <Button size="small" variant="ghost" onClick={() => setDialog('edit')}><Pencil />{t('action.edit')}</Button>
          <Button size="small" variant="ghost" onClick={() => setDialog('merge')}><Merge />{t('graphPanel.merge')}</Button>
        </>
      }
    >
      <Section title={t('graphPanel.description')}><Descriptions texts={evidence.descriptions} /></Section>
      <Section title={t('graphPanel.evidence', { count: Math.max(evidence.docIds.length, evidence.paths.length) })}><Evidence docIds={evidence.docIds} paths={evidence.paths} /></Section>
      {neighbours.length ? (
        <Section title={t('graphPanel.relations', { count: neighbours.length })}>
          <ul className="flex flex-col">
            {neighbours.map(({ edge, name }) => (
              <li key={name}>
                <button type="button" className="w-full rounded-lg px-2 py-1.5 text-start hover:bg-sunken" onClick={() => onSelect({ type: 'edge', source: edge.source, target: edge.target })}>
                  <bdi className="block truncate text-sm">{name}</bdi>
                  <span className="block truncate text-xs text-muted">{String(edge.properties['keywords'] ?? '')}</span>
                </button>
              </li>
            ))}
          </ul>
        </Section>
      ) : null}
      {dialog === 'edit' ? <EditDialog target={{ type: 'node', node }} scope={scope} onClose={() => setDialog(null)} onGone={() => onSelect(null)} /> : null}
      {dialog === 'merge' ? <MergeDialog name={node.id} scope={scope} onClose={() => setDialog(null)} onMerged={(name) => onSelect({ type: 'node', name })} /> : null}
    </Frame>
  )
}

function EdgePanel({ edge, scope, onSelect }: PanelProps & { edge: GraphEdge }) {
  const { t } = useTranslation()
  const [editing, setEditing] = useState(false)
  const evidence = evidenceOf(edge.properties)
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
      actions={<Button size="small" variant="ghost" onClick={() => setEditing(true)}><Pencil />{t('action.edit')}</Button>}
    >
      <Section title={t('graphPanel.description')}><Descriptions texts={evidence.descriptions} /></Section>
      {edge.properties['keywords'] ? <Section title={t('graphPanel.keywords')}><p className="text-sm" dir="auto">{String(edge.properties['keywords'])}</p></Section> : null}
      <Section title={t('graphPanel.evidence', { count: Math.max(evidence.docIds.length, evidence.paths.length) })}><Evidence docIds={evidence.docIds} paths={evidence.paths} /></Section>
      {editing ? <EditDialog target={{ type: 'edge', edge }} scope={scope} onClose={() => setEditing(false)} onGone={() => onSelect(null)} /> : null}
    </Frame>
  )
}
