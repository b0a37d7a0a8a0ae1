import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ConfirmDialog } from '@/components/ui/confirm-dialog'
import { Field } from '@/components/ui/field'
import { Input } from '@/components/ui/input'
import { Switch } from '@/components/ui/toggle'
import { useClearAll, useDelete } from './use-documents'

export function DeleteDialog({ ids, name, onClose }: { ids: string[]; name: string; onClose: (deleted: boolean) => void }) {
  const { t } = useTranslation()
  const remove = useDelete()
  const [files, setFiles] = useState(false)
  return (
    <ConfirmDialog
      open={ids.length > 0}
      onOpenChange={(open) => !open && onClose(false)}
      title={t('delete.title', { count: ids.length })}
      description={<>{name ? <bdi className="mb-1 block font-medium break-words text-ink">{name}</bdi> : null}{t('delete.text', { count: ids.length })}</>}
      confirm={t('action.delete')}
      busy={remove.isPending}
      onConfirm={() => remove.mutate({ ids, files }, { onSuccess: () => onClose(true) })}
    >
      <Switch checked={files} onChange={setFiles} label={t('delete.files')} hint={t('delete.filesHint')} />
    </ConfirmDialog>
  )
}

/** Deletes everything; only who has read how much that is can confirm it. */
export function ClearAllDialog({ open, count, onOpenChange }: { open: boolean; count: number; onOpenChange: (open: boolean) => void }) {
  const { t } = useTranslation()
  const clear = useClearAll()
  const [typed, setTyped] = useState('')
  const close = (next: boolean) => {
    setTyped('')
    onOpenChange(next)
  }
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={close}
      title={t('clear.title')}
      description={t('clear.text', { count })}
      confirm={t('clear.confirm')}
      busy={clear.isPending}
      disabled={typed.trim() !== String(count)}
      onConfirm={() => clear.mutate(undefined, { onSuccess: () => close(false) })}
    >
      <Field label={t('clear.type', { count })}>{(ids) => <Input {...ids} data-first inputMode="numeric" autoComplete="off" value={typed} onChange={(event) => setTyped(event.target.value)} />}</Field>
    </ConfirmDialog>
  )
}
