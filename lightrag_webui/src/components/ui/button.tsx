import type { ComponentProps } from 'react'
import { cn } from '@/lib/cn'

const VARIANTS = {
  primary: 'bg-brand text-on-brand shadow-card hover:brightness-110 active:brightness-95',
  secondary: 'border bg-surface text-ink shadow-card hover:bg-sunken',
  ghost: 'text-ink hover:bg-sunken',
  danger: 'bg-danger text-white shadow-card hover:brightness-110 dark:text-black',
  filter: 'border border-filter-line bg-filter text-filter-ink hover:brightness-97',
} as const

const SIZES = {
  small: 'h-8 gap-1.5 rounded-lg px-2.5 text-[0.8125rem]',
  medium: 'h-9 gap-2 rounded-lg px-3.5 text-sm',
  icon: 'size-9 rounded-lg',
  'icon-small': 'size-8 rounded-lg',
} as const

export interface ButtonProps extends ComponentProps<'button'> {
  variant?: keyof typeof VARIANTS
  size?: keyof typeof SIZES
}

export function Button({ variant = 'secondary', size = 'medium', className, type = 'button', ...rest }: ButtonProps) {
  return (
    <button
      // oxlint-disable-next-line react/button-has-type
      type={type}
      className={cn(
        'inline-flex shrink-0 items-center justify-center font-medium whitespace-nowrap transition-[background,filter,opacity] duration-150',
        'disabled:pointer-events-none disabled:opacity-45 [&_svg]:size-4 [&_svg]:shrink-0',
        VARIANTS[variant],
        SIZES[size],
        className,
      )}
      {...rest}
    />
  )
}
