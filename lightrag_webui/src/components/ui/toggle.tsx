import { Check, Minus } from 'lucide-react'
import { Checkbox as CheckboxPrimitive, Switch as SwitchPrimitive } from 'radix-ui'
import { useId, type ReactNode } from 'react'
import { cn } from '@/lib/cn'

export function Switch({ checked, onChange, label, hint, disabled }: {
  checked: boolean
  onChange: (checked: boolean) => void
  label: ReactNode
  hint?: ReactNode
  disabled?: boolean
}) {
  const id = useId()
  return (
    <div className="flex items-start gap-3">
      <div className="min-w-0 flex-1">
        <label htmlFor={id} className="text-[0.8125rem] font-medium">
          {label}
        </label>
        {hint ? <p id={`${id}-hint`} className="mt-0.5 text-xs leading-snug text-muted">{hint}</p> : null}
      </div>
      <SwitchPrimitive.Root
        id={id}
        checked={checked}
        disabled={disabled}
        onCheckedChange={onChange}
        {...(hint ? { 'aria-describedby': `${id}-hint` } : {})}
        className="mt-0.5 inline-flex h-5 w-9 shrink-0 items-center rounded-full bg-muted/55 p-0.5 transition-colors data-[state=checked]:bg-brand disabled:opacity-40"
      >
        <SwitchPrimitive.Thumb className="size-4 rounded-full bg-white shadow transition-transform data-[state=checked]:translate-x-4 rtl:data-[state=checked]:-translate-x-4" />
      </SwitchPrimitive.Root>
    </div>
  )
}

export function Checkbox({ checked, onChange, label, className }: {
  checked: boolean | 'indeterminate'
  onChange: (checked: boolean) => void
  label: string
  className?: string
}) {
  return (
    <CheckboxPrimitive.Root
      checked={checked}
      aria-label={label}
      onCheckedChange={(value) => onChange(value === true)}
      className={cn('flex size-4.5 shrink-0 items-center justify-center rounded-[5px] border border-muted/60 bg-surface data-[state=checked]:border-brand data-[state=checked]:bg-brand data-[state=indeterminate]:border-brand data-[state=indeterminate]:bg-brand', className)}
    >
      <CheckboxPrimitive.Indicator className="text-on-brand [&_svg]:size-3.5">
        {checked === 'indeterminate' ? <Minus strokeWidth={3} /> : <Check strokeWidth={3} />}
      </CheckboxPrimitive.Indicator>
    </CheckboxPrimitive.Root>
  )
}

/** A few choices side by side, of which one holds. */
export function Segmented<T extends string>({ value, options, onChange, label, className }: {
  value: T
  options: Array<{ value: T; label: ReactNode }>
  onChange: (value: T) => void
  label: string
  className?: string
}) {
  return (
    <div role="radiogroup" aria-label={label} className={cn('inline-flex rounded-lg bg-sunken p-0.5', className)}>
      {options.map((option) => (
        <label
          key={option.value}
          className={cn(
            'relative flex h-8 flex-1 cursor-pointer items-center justify-center rounded-md px-3 text-[0.8125rem] font-medium whitespace-nowrap transition-colors has-focus-visible:outline-2 has-focus-visible:outline-brand',
            option.value === value ? 'bg-surface text-ink shadow-card' : 'text-muted hover:text-ink',
          )}
        >
          <input type="radio" className="sr-only" checked={option.value === value} onChange={() => onChange(option.value)} />
          {option.label}
        </label>
      ))}
    </div>
  )
}
