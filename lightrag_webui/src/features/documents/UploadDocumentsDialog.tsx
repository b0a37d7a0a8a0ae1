import { useQuery } from '@tanstack/react-query'
import { FilePlus2, UploadCloud } from 'lucide-react'
import { useRef, useState, type DragEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { toast } from 'sonner'
import { ApiError } from '@/api/http'
import { getSupportedFileTypes } from '@/api/lightrag'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { cn } from '@/lib/cn'
import { emptyForm, faultsOf, toMetadata } from './metadata'
import { MetadataFields } from './metadata-fields'
import { UploadList } from './upload-list'
import { useUploadQueue } from './upload-queue'
import { useRefresh } from './use-documents'

interface UploadDocumentsDialogProps {
  open: boolean
  onOpenChange: (open: boolean) => void
}

/** Takes files in, many at once, with dates and tags that hold for all of them. */
export function UploadDocumentsDialog({ open, onOpenChange }: UploadDocumentsDialogProps) {
  const { t } = useTranslation()
  const refresh = useRefresh()
  const picker = useRef<HTMLInputElement>(null)
  const [form, setForm] = useState(emptyForm)
  const [sending, setSending] = useState(false)
  const [over, setOver] = useState(false)
  const queue = useUploadQueue()
  const types = useQuery({ queryKey: ['file-types'], queryFn: getSupportedFileTypes, enabled: open, staleTime: 60_000 })

  const waiting = queue.items.filter((item) => item.state === 'waiting' || item.state === 'failed')
  const faulty = Object.keys(faultsOf(form)).length > 0
  const refused = queue.items.find((item) => item.error instanceof ApiError && item.error.status === 422)?.error as ApiError | undefined

  const start = async () => {
    setSending(true)
    const done = await queue.send(waiting, toMetadata(form))
    setSending(false)
    refresh()
    if (done) toast.success(t('upload.done', { count: done }))
    if (done === waiting.length) close(false)
  }

  const close = (next: boolean) => {
    if (!next) {
      queue.stop()
      queue.clear()
      setForm(emptyForm())
    }
    onOpenChange(next)
  }

  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    queue.add(event.dataTransfer.files)
  }

  return (
    <Dialog
      open={open}
      onOpenChange={close}
      title={t('upload.title')}
      description={t('upload.text')}
      className="max-w-2xl"
      footer={
        <>
          <span className="me-auto text-sm text-muted">{queue.items.length ? t('upload.chosen', { count: queue.items.length }) : ''}</span>
          <Button onClick={() => (sending ? queue.stop() : close(false))}>{sending ? t('action.stop') : t('action.cancel')}</Button>
          <Button variant="primary" disabled={!waiting.length || faulty || sending} onClick={() => void start()}>
            <UploadCloud />
            {waiting.length ? t('upload.start', { count: waiting.length }) : t('upload.open')}
          </Button>
        </>
      }
    >
      <div
        className={cn('flex flex-col items-center gap-3 rounded-2xl border-2 border-dashed px-4 py-7 text-center transition-colors', over ? 'border-brand bg-brand-soft' : 'bg-sunken/50')}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={onDrop}
      >
        <FilePlus2 className="size-7 text-brand-ink" aria-hidden />
        <p className="text-sm">{t('upload.drop')}</p>
        <Button onClick={() => picker.current?.click()}>{t('upload.choose')}</Button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label={t('upload.choose')}
          accept={types.data?.supported_extensions.join(',')}
          onChange={(event) => {
            queue.add(event.target.files ?? [])
            event.target.value = ''
          }}
        />
        {types.data ? (
          <p className="text-xs leading-snug text-muted" title={types.data.supported_extensions.join(' ')} dir="ltr">
            {types.data.supported_extensions.slice(0, 12).join(' ')} …
          </p>
        ) : null}
      </div>
      <UploadList items={queue.items} onRemove={queue.remove} />
      <section className="mt-5 border-t pt-4">
        <h3 className="text-sm font-semibold">{t('upload.metadata')}</h3>
        <p className="mt-0.5 mb-4 text-xs leading-snug text-muted">{t('upload.metadataText')}</p>
        <MetadataFields form={form} error={refused ?? null} onChange={(change) => setForm((before) => ({ ...before, ...change }))} />
      </section>
    </Dialog>
  )
}
