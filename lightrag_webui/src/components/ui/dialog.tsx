import { X } from 'lucide-react'
import { Dialog as Primitive } from 'radix-ui'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { cn } from '@/lib/cn'
import { Button } from './button'

interface DialogProps {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: ReactNode
  description?: ReactNode
  children: ReactNode
  footer?: ReactNode
  className?: string
  /** `side`: a panel at the end edge, the whole page on a phone. */
  layout?: 'centre' | 'side'
  /** A click beside it does not close it: there is something to lose. */
  guarded?: boolean
}

export function Dialog({ open, onOpenChange, title, description, children, footer, className, layout = 'centre', guarded }: DialogProps) {
  const { t } = useTranslation()
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Portal>
        <Primitive.Overlay className="fixed inset-0 z-40 bg-black/35 backdrop-blur-[1px] data-[state=open]:animate-[fade_.15s]" />
        <Primitive.Content
          {...(description ? {} : { 'aria-describedby': undefined })}
          tabIndex={-1}
          onOpenAutoFocus={(event) => {
            // The field that asks for it, else the dialog itself: the way out is not what one came for.
            event.preventDefault()
            const panel = event.currentTarget as HTMLElement
            ;(panel.querySelector<HTMLElement>('[data-first]') ?? panel).focus()
          }}
          {...(guarded ? { onInteractOutside: (event) => event.preventDefault() } : {})}
          className={cn(
            'fixed z-50 flex flex-col bg-raised shadow-float outline-none',
            layout === 'centre'
              ? 'inset-x-3 top-1/2 mx-auto max-h-[min(92dvh,60rem)] max-w-xl -translate-y-1/2 rounded-2xl border'
              : 'inset-y-0 end-0 w-full border-s sm:max-w-lg',
            className,
          )}
        >
          <header className="flex items-start gap-3 border-b px-5 py-4">
            <div className="min-w-0 flex-1">
              <Primitive.Title className="text-base leading-snug font-semibold break-words">{title}</Primitive.Title>
              {description ? <Primitive.Description className="mt-0.5 text-sm text-muted">{description}</Primitive.Description> : null}
            </div>
            <Primitive.Close asChild>
              <Button variant="ghost" size="icon-small" aria-label={t('action.close')}>
                <X />
              </Button>
            </Primitive.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">{children}</div>
          {footer ? <footer className="flex flex-wrap items-center justify-end gap-2 border-t px-5 py-3.5">{footer}</footer> : null}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}
