import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { toast } from 'sonner'
import { ApiError } from '@/api/http'
import { updateDocumentMetadata, type DocStatusResponse } from '@/api/lightrag'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { ErrorNote } from '@/components/ui/feedback'
import { getDocumentTitle } from '@/lib/documentMetadata'
import { faultsOf, formOf, toPatch } from './metadata'
import { MetadataFields } from './metadata-fields'
import { useRefresh } from './use-documents'

/** Changes dates, tags and notes of a document. Questions are limited by the new ones at once. */
export function EditMetadataDialog({ document, onClose }: { document: DocStatusResponse; onClose: () => void }) {
  const { t } = useTranslation()
  const refresh = useRefresh()
  const [before] = useState(() => formOf(document))
  const [form, setForm] = useState(before)
  const patch = Object.keys(faultsOf(form)).length ? {} : toPatch(before, form)
  const save = useMutation({
    mutationFn: () => updateDocumentMetadata(document.id, patch),
    onSuccess: () => {
      toast.success(t('metadata.saved'))
      refresh()
      onClose()
    },
  })
  const error = save.error instanceof ApiError ? save.error : null
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('metadata.edit')}
      description={getDocumentTitle(document)}
      footer={
        <>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button variant="primary" disabled={!Object.keys(patch).length || save.isPending} onClick={() => save.mutate()}>
            {t('action.save')}
          </Button>
        </>
      }
    >
      <MetadataFields form={form} error={error} onChange={(change) => setForm((one) => ({ ...one, ...change }))} />
      {save.error ? <ErrorNote error={save.error} className="mt-4" /> : null}
    </Dialog>
  )
}
