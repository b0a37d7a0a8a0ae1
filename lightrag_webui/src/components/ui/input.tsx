import { ChevronDown } from 'lucide-react'
import type { ComponentProps } from 'react'
import { cn } from '@/lib/cn'

export const INPUT_CLASS =
  'w-full rounded-lg border bg-surface px-3 text-sm text-ink shadow-card transition-colors placeholder:text-muted/80 ' +
  'hover:border-muted/50 focus-visible:border-brand focus-visible:outline-2 focus-visible:outline-offset-0 focus-visible:outline-brand/35 ' +
  'disabled:opacity-50 aria-invalid:border-danger'

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input className={cn(INPUT_CLASS, 'h-9', className)} {...rest} />
}

export function Textarea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea className={cn(INPUT_CLASS, 'min-h-20 py-2 leading-relaxed', className)} {...rest} />
}

/** A select of the browser itself: the best there is with a keyboard, a reader or a phone. */
export function Select({ className, children, ...rest }: ComponentProps<'select'>) {
  return (
    <span className={cn('relative inline-flex w-full', className)}>
      <select className={cn(INPUT_CLASS, 'h-9 appearance-none pe-8')} {...rest}>
        {children}
      </select>
      <ChevronDown aria-hidden className="pointer-events-none absolute end-2.5 top-1/2 size-4 -translate-y-1/2 text-muted" />
    </span>
  )
}
