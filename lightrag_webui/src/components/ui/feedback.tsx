import { AlertCircle, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { cn } from '@/lib/cn'
import { errorText } from '@/lib/errors'
import { Button } from './button'

export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden data-skeleton className={cn('animate-pulse rounded-md bg-line/70', className)} />
}

export function Spinner({ className }: { className?: string }) {
  return <span aria-hidden className={cn('inline-block size-4 animate-spin rounded-full border-2 border-current border-e-transparent', className)} />
}

export function EmptyState({ icon: Icon, title, children }: { icon: LucideIcon; title: string; children?: ReactNode }) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-3 px-6 py-14 text-center">
      <span className="flex size-12 items-center justify-center rounded-2xl bg-brand-soft text-brand-ink">
        <Icon className="size-6" aria-hidden />
      </span>
      <h2 className="text-base font-semibold">{title}</h2>
      {children ? <div className="flex flex-col items-center gap-4 text-sm leading-relaxed text-muted">{children}</div> : null}
    </div>
  )
}

/** What went wrong, in words, and a way on. */
export function ErrorNote({ error, onRetry, className }: { error: unknown; onRetry?: () => void; className?: string }) {
  const { t } = useTranslation()
  return (
    <div role="alert" className={cn('flex items-start gap-2.5 rounded-xl border border-danger/30 bg-danger-soft px-3.5 py-3 text-sm', className)}>
      <AlertCircle className="mt-0.5 size-4 shrink-0 text-danger" aria-hidden />
      <p className="min-w-0 flex-1 leading-relaxed break-words">{errorText(error, t)}</p>
      {onRetry ? (
        <Button size="small" onClick={onRetry}>
          {t('action.retry')}
        </Button>
      ) : null}
    </div>
  )
}

export function ProgressBar({ share, label, className }: { share: number; label: string; className?: string }) {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100)
  return (
    <div role="progressbar" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={percent} className={cn('h-1.5 overflow-hidden rounded-full bg-line', className)}>
      <div className="h-full rounded-full bg-brand transition-[width] duration-300" style={{ width: `${percent}%` }} />
    </div>
  )
}
