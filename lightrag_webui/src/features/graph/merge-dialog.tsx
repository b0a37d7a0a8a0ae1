import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { toast } from 'sonner'
import { mergeEntities, searchLabels } from '@/api/lightrag'
import { TagInput } from '@/components/tag-input'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { ErrorNote } from '@/components/ui/feedback'
import { Field } from '@/components/ui/field'

/** Merges further spellings of an entity into it, with all their evidence and relations. */
export function MergeDialog({ name, scope, onClose, onMerged }: { name: string; scope: string | null; onClose: () => void; onMerged: (name: string) => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [others, setOthers] = useState<string[]>([])
  const near = useQuery({ queryKey: ['labels', 'near', name, scope], queryFn: () => searchLabels(name.split(/\s+/)[0] ?? name, 50, scope ? [scope] : []) })
  const merge = useMutation({
    mutationFn: () => mergeEntities({ entities_to_change: others, entity_to_change_into: name, ...(scope ? { tenant_tag: scope } : {}) }),
    onSuccess: () => {
      toast.success(t('graphPanel.merged'))
      void client.invalidateQueries({ queryKey: ['labels'] })
      void client.invalidateQueries({ queryKey: ['graph'] })
      onMerged(name)
      onClose()
    },
  })
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('graphPanel.mergeTitle', { name })}
      description={t('graphPanel.mergeText')}
      footer={
        <>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button variant="primary" disabled={!others.length || merge.isPending} onClick={() => merge.mutate()}>{t('graphPanel.merge')}</Button>
        </>
      }
    >
      <div className="flex min-h-48 flex-col gap-4">
        <Field label={t('graphPanel.mergeOthers')}>
          {(ids) => <TagInput id={ids.id} label={t('graphPanel.mergeOthers')} tone="plain" value={others} normalize={(text) => text.trim()} suggestions={(near.data ?? []).filter((one) => one !== name).map((value) => ({ value, count: 0 }))} onChange={setOthers} />}
        </Field>
        {merge.error ? <ErrorNote error={merge.error} /> : null}
      </div>
    </Dialog>
  )
}
