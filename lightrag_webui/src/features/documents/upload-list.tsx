import { Check, FileText, X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '@/components/ui/button'
import { ProgressBar } from '@/components/ui/feedback'
import { errorText } from '@/lib/errors'
import { formatSize } from '@/lib/format'
import type { UploadItem } from './upload-queue'

/** The chosen files, how far each is, and what is wrong with it. */
export function UploadList({ items, onRemove }: { items: UploadItem[]; onRemove: (id: number) => void }) {
  const { t, i18n } = useTranslation()
  if (!items.length) return null
  return (
    <ul className="mt-3 flex max-h-56 flex-col gap-1 overflow-y-auto">
      {items.map((item) => (
        <li key={item.id} className="flex items-center gap-3 rounded-lg px-2 py-1.5 hover:bg-sunken/60">
          <FileText className="size-4 shrink-0 text-muted" aria-hidden />
          <div className="min-w-0 flex-1">
            <p className="flex items-baseline gap-2 text-sm">
              <bdi className="truncate">{item.file.name}</bdi>
              <span className="shrink-0 text-xs text-muted">{formatSize(item.file.size, i18n.language)}</span>
            </p>
            {item.state === 'sending' ? <ProgressBar share={item.share} label={t('upload.progress', { name: item.file.name })} className="mt-1" /> : null}
            {item.state === 'failed' ? <p role="alert" className="text-xs leading-snug text-danger">{errorText(item.error, t)}</p> : null}
          </div>
          {item.state === 'done' ? (
            <Check className="size-4 text-success" aria-label={t('upload.sent')} />
          ) : (
            <Button variant="ghost" size="icon-small" className="text-muted" disabled={item.state === 'sending'} aria-label={t('action.removeNamed', { name: item.file.name })} onClick={() => onRemove(item.id)}>
              <X />
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}
