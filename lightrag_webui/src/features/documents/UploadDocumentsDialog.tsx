import { useQuery } from '@tanstack/react-query'
import { FilePlus2, UploadCloud } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
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
import { useFileDrop } from './use-file-drop'

interface UploadDocumentsDialogProps {
  open: boolean
  onOpenChange: (open: boolean) => void
  /** Files that were dropped on the page behind it. */
  dropped?: File[]
}

/** Takes files in, many at once, with dates and tags that hold for all of them. Closed while it sends, it goes on. */
export function UploadDocumentsDialog({ open, onOpenChange, dropped }: UploadDocumentsDialogProps) {
  const { t } = useTranslation()
  const refresh = useRefresh()
  const [form, setForm] = useState(emptyForm)
  const [sending, setSending] = useState(false)
  const queue = useUploadQueue()
  const { add } = queue
  useEffect(() => {
    if (dropped?.length) add(dropped)
  }, [add, dropped])
  useWarningBeforeLeaving(sending)

  const waiting = queue.items.filter((item) => item.state === 'waiting' || item.state === 'failed')
  const faulty = Object.keys(faultsOf(form)).length > 0
  const refused = queue.items.find((item) => item.error instanceof ApiError && item.error.faults.length)?.error as ApiError | undefined

  const reset = () => {
    queue.clear()
    setForm(emptyForm())
  }

  const start = async () => {
    setSending(true)
    const { done, failed } = await queue.send(waiting, toMetadata(form))
    setSending(false)
    refresh()
    if (done) toast.success(t('upload.done', { count: done }))
    if (failed) toast.error(t('upload.failed', { count: failed }))
    if (done !== waiting.length) return
    reset()
    onOpenChange(false)
  }

  const close = (next: boolean) => {
    if (!next && !sending) reset()
    onOpenChange(next)
  }

  return (
    <Dialog
      open={open}
      onOpenChange={close}
      guarded={queue.items.length > 0}
      title={t('upload.title')}
      description={t('upload.text')}
      className="max-w-2xl"
      footer={
        <>
          <span className="me-auto text-sm text-muted">{queue.items.length ? t('upload.chosen', { count: queue.items.length }) : ''}</span>
          <Button onClick={() => (sending ? queue.stop() : close(false))}>{sending ? t('action.stop') : t('action.cancel')}</Button>
          {sending ? (
            <Button variant="primary" onClick={() => close(false)}>{t('upload.background')}</Button>
          ) : (
            <Button variant="primary" disabled={!waiting.length || faulty} onClick={() => void start()}>
              <UploadCloud />
              {waiting.length ? t('upload.start', { count: waiting.length }) : t('upload.open')}
            </Button>
          )}
        </>
      }
    >
      <DropZone small={queue.items.length > 0} onFiles={queue.add} />
      <UploadList items={queue.items} onRemove={queue.remove} />
      <section className="mt-5 border-t pt-4">
        <h3 className="text-sm font-semibold">{t('upload.metadata')}</h3>
        <p className="mt-0.5 mb-4 text-xs leading-snug text-muted">{t('upload.metadataText')}</p>
        <MetadataFields form={form} error={refused ?? null} onChange={(change) => setForm((before) => ({ ...before, ...change }))} />
      </section>
    </Dialog>
  )
}

/** Types that most people have, named first. */
const COMMON = ['.pdf', '.docx', '.pptx', '.xlsx', '.md', '.txt', '.html', '.epub', '.eml', '.csv', '.json']

function DropZone({ small, onFiles }: { small: boolean; onFiles: (files: Iterable<File>) => void }) {
  const { t } = useTranslation()
  const picker = useRef<HTMLInputElement>(null)
  const drop = useFileDrop(onFiles)
  const types = useQuery({ queryKey: ['file-types'], queryFn: getSupportedFileTypes, staleTime: 60_000 })
  const known = types.data?.supported_extensions ?? []
  const named = COMMON.filter((one) => known.includes(one))
  return (
    <div
      className={cn('flex items-center justify-center gap-x-4 gap-y-2 rounded-2xl border-2 border-dashed px-4 text-center transition-colors', small ? 'py-3' : 'flex-col py-7', drop.over ? 'border-brand bg-brand-soft' : 'bg-sunken/50')}
      {...drop.handlers}
    >
      <FilePlus2 className={cn('text-brand-ink', small ? 'size-5' : 'size-7')} aria-hidden />
      <p className="hidden text-sm sm:block">{t('upload.drop')}</p>
      <Button size={small ? 'small' : 'medium'} onClick={() => picker.current?.click()}>{t('upload.choose')}</Button>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label={t('upload.choose')}
        accept={known.join(',')}
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])])
          event.target.value = ''
        }}
      />
      {small ? null : (
        <p className="min-h-4 text-xs leading-snug text-muted" title={known.join(' ')} dir="ltr">
          {named.join(' ')} {known.length > named.length ? `+${known.length - named.length}` : ''}
        </p>
      )}
    </div>
  )
}

/** Leaving the site would cut off what is on its way. */
function useWarningBeforeLeaving(active: boolean): void {
  useEffect(() => {
    if (!active) return undefined
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [active])
}
