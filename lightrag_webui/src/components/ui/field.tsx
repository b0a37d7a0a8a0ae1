import { useId, type ReactNode } from 'react'
import { cn } from '@/lib/cn'

export interface FieldIds {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
}

interface FieldProps {
  label: ReactNode
  hint?: ReactNode
  error?: ReactNode
  className?: string
  children: (ids: FieldIds) => ReactNode
}

/** A labelled input with what helps and what is wrong, tied together for readers. */
export function Field({ label, hint, error, className, children }: FieldProps) {
  const id = useId()
  const note = error ?? hint
  return (
    <div className={cn('flex min-w-0 flex-col gap-1.5', className)}>
      <label htmlFor={id} className="text-[0.8125rem] font-medium text-ink">
        {label}
      </label>
      {children({ id, 'aria-describedby': note ? `${id}-note` : undefined, 'aria-invalid': error ? true : undefined })}
      {note ? (
        <p id={`${id}-note`} role={error ? 'alert' : undefined} className={cn('text-xs leading-snug', error ? 'text-danger' : 'text-muted')}>
          {note}
        </p>
      ) : null}
    </div>
  )
}
