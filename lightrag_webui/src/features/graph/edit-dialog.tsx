import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { toast } from 'sonner'
import { deleteEntity, deleteRelation, editEntity, editRelation, type GraphEdge, type GraphNode } from '@/api/lightrag'
import { Button } from '@/components/ui/button'
import { ConfirmDialog } from '@/components/ui/confirm-dialog'
import { Dialog } from '@/components/ui/dialog'
import { ErrorNote } from '@/components/ui/feedback'
import { Field } from '@/components/ui/field'
import { Input, Textarea } from '@/components/ui/input'
import { evidenceOf, SEPARATOR } from './graph-data'

type Target = { type: 'node'; node: GraphNode } | { type: 'edge'; edge: GraphEdge }

interface EditDialogProps {
  target: Target
  scope: string | null
  onClose: () => void
  onGone: () => void
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** Changes what the graph says of an entity or relation. What a person writes replaces what documents said so far. */
export function EditDialog({ target, scope, onClose, onGone }: EditDialogProps) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const properties = target.type === 'node' ? target.node.properties : target.edge.properties
  const before = { description: evidenceOf(properties).descriptions.join('\n'), second: textOf(properties[target.type === 'node' ? 'entity_type' : 'keywords']), name: target.type === 'node' ? target.node.id : '' }
  const [form, setForm] = useState(before)
  const [asking, setAsking] = useState(false)
  const tenant = scope ? { tenant_tag: scope } : {}

  const done = (gone: boolean) => {
    void client.invalidateQueries({ queryKey: ['graph'] })
    void client.invalidateQueries({ queryKey: ['labels'] })
    if (gone) onGone()
    onClose()
  }
  const save = useMutation({
    mutationFn: () => {
      const description = form.description === before.description ? {} : { description: form.description.split('\n').filter(Boolean).join(SEPARATOR) }
      if (target.type === 'edge') return editRelation({ source_id: target.edge.source, target_id: target.edge.target, updated_data: { ...description, ...(form.second === before.second ? {} : { keywords: form.second }) }, ...tenant })
      const renamed = form.name.trim() !== before.name
      const data = { ...description, ...(form.second === before.second ? {} : { entity_type: form.second }), ...(renamed ? { entity_name: form.name.trim() } : {}) }
      return editEntity({ entity_name: before.name, updated_data: data, allow_rename: renamed, allow_merge: false, ...tenant })
    },
    onSuccess: () => {
      toast.success(t('graphPanel.saved'))
      done(form.name.trim() !== before.name)
    },
  })
  const remove = useMutation({
    mutationFn: () => (target.type === 'node' ? deleteEntity({ entity_name: target.node.id, ...tenant }) : deleteRelation({ source_entity: target.edge.source, target_entity: target.edge.target, ...tenant })),
    onSuccess: () => {
      toast.success(t('graphPanel.deleted'))
      done(true)
    },
  })
  const changed = JSON.stringify(form) !== JSON.stringify(before)
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={target.type === 'node' ? t('graphPanel.editEntity') : t('graphPanel.editRelation')}
      description={t('graphPanel.editText')}
      footer={
        <>
          <Button variant="ghost" className="me-auto text-danger" onClick={() => setAsking(true)}><Trash2 />{t('action.delete')}</Button>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button variant="primary" disabled={!changed || save.isPending || (target.type === 'node' && !form.name.trim())} onClick={() => save.mutate()}>{t('action.save')}</Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {target.type === 'node' ? <Field label={t('graphPanel.name')}>{(ids) => <Input {...ids} value={form.name} maxLength={256} onChange={(event) => setForm({ ...form, name: event.target.value })} />}</Field> : null}
        <Field label={target.type === 'node' ? t('graphPanel.type') : t('graphPanel.keywords')}>{(ids) => <Input {...ids} value={form.second} onChange={(event) => setForm({ ...form, second: event.target.value })} />}</Field>
        <Field label={t('graphPanel.description')}>{(ids) => <Textarea {...ids} dir="auto" rows={8} value={form.description} onChange={(event) => setForm({ ...form, description: event.target.value })} />}</Field>
        {save.error || remove.error ? <ErrorNote error={save.error ?? remove.error} /> : null}
      </div>
      <ConfirmDialog open={asking} onOpenChange={setAsking} title={target.type === 'node' ? t('graphPanel.deleteEntity', { name: before.name }) : t('graphPanel.deleteRelation')} description={t('graphPanel.deleteText')} confirm={t('action.delete')} busy={remove.isPending} onConfirm={() => remove.mutate()} />
    </Dialog>
  )
}
