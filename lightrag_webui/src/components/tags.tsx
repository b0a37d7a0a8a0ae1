import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { cn } from '@/lib/cn'

/** A tag as documents carry it: the facet quiet, the value plain. */
export function Tag({ tag, className }: { tag: string; className?: string }) {
  const colon = tag.indexOf(':')
  return (
    <span dir="ltr" className={cn('inline-flex max-w-56 items-center rounded-md bg-sunken px-1.5 py-0.5 text-xs leading-4 text-ink', className)} title={tag}>
      {colon > 0 ? <span className="shrink-0 text-muted">{tag.slice(0, colon + 1)}</span> : null}
      <span className="truncate">{colon > 0 ? tag.slice(colon + 1) : tag}</span>
    </span>
  )
}

export function TagList({ tags, limit = 99, className }: { tags: readonly string[]; limit?: number; className?: string }) {
  if (!tags.length) return null
  const shown = tags.slice(0, limit)
  return (
    <span className={cn('flex min-w-0 flex-wrap items-center gap-1', className)}>
      {shown.map((tag) => (
        <Tag key={tag} tag={tag} />
      ))}
      {tags.length > limit ? (
        <span dir="ltr" className="text-xs text-muted" title={tags.slice(limit).join(', ')}>
          +{tags.length - limit}
        </span>
      ) : null}
    </span>
  )
}

/** Something that is in force and can be taken away. */
export function Chip({ children, onRemove, label, onOpen, tone = 'filter' }: {
  children: ReactNode
  onRemove: () => void
  /** What is taken away, in words. */
  label: string
  onOpen?: (() => void) | undefined
  tone?: 'filter' | 'plain' | 'danger'
}) {
  const { t } = useTranslation()
  const tones = {
    filter: 'border-filter-line bg-filter text-filter-ink',
    danger: 'border-danger/35 bg-danger-soft text-danger',
    plain: 'bg-sunken text-ink',
  }
  return (
    <span className={cn('inline-flex h-7 max-w-full items-center rounded-full border ps-2.5 text-[0.8125rem] font-medium', tones[tone])}>
      {onOpen ? (
        <button type="button" className="min-w-0 truncate rounded-full hover:underline" onClick={onOpen}>
          {children}
        </button>
      ) : (
        <span className="min-w-0 truncate">{children}</span>
      )}
      <button type="button" aria-label={t('action.removeNamed', { name: label })} onClick={onRemove} className="ms-1 me-1 flex size-5 shrink-0 items-center justify-center rounded-full hover:bg-black/10 dark:hover:bg-white/15">
        <X className="size-3.5" aria-hidden />
      </button>
    </span>
  )
}
