import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from './button'
import { Dialog } from './dialog'

interface ConfirmDialogProps {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  description: ReactNode
  confirm: string
  busy?: boolean
  disabled?: boolean
  onConfirm: () => void
  children?: ReactNode
}

/** Asks before something is lost. */
export function ConfirmDialog({ open, onOpenChange, title, description, confirm, busy, disabled, onConfirm, children }: ConfirmDialogProps) {
  const { t } = useTranslation()
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={title}
      className="max-w-md"
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>{t('action.cancel')}</Button>
          <Button variant="danger" disabled={busy || disabled} onClick={onConfirm}>
            {confirm}
          </Button>
        </>
      }
    >
      <div className="text-sm leading-relaxed text-muted">{description}</div>
      {children ? <div className="mt-4">{children}</div> : null}
    </Dialog>
  )
}
