import { useQueryClient } from '@tanstack/react-query'
import { WifiOff } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { useEffect, useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { EmptyState, ErrorNote, Spinner } from '@/components/ui/feedback'
import { ApiError, onNotice } from '@/api/http'
import { holderOf, session } from '@/api/session'
import { LoginCard } from './login-page'
import { AUTH_KEY, useAuth, useSession } from './use-auth'

/** Lets nobody in whom the server refuses, and says at any time what is the matter. */
export function AuthGate({ children }: { children: ReactNode }) {
  const { t } = useTranslation()
  const auth = useAuth()
  const client = useQueryClient()
  const holder = holderOf(useSession())
  const [entered, setEntered] = useState<string | null>(null)
  const open = auth.data?.open === true
  if (open && entered === null) setEntered(holder)
  // Somebody else, here or in another tab, begins anew: what the one before saw is not theirs to see.
  const changed = entered !== null && entered !== holder

  // Any request may find out that the credential is no longer good; another tab may sign in or out.
  useEffect(() => {
    const askAgain = () => void client.invalidateQueries({ queryKey: AUTH_KEY })
    const stopped = [onNotice((notice) => notice === 'refused' && open && askAgain()), session.subscribe(askAgain)]
    return () => stopped.forEach((stop) => stop())
  }, [client, open])

  useEffect(() => {
    if (changed) window.location.reload()
  }, [changed])

  if (changed) return null
  if (entered !== null) {
    return (
      <>
        {children}
        {/* What was begun stays where it is, behind the sign-in. */}
        <Dialog.Root open={!open}>
          <Dialog.Portal>
            <Dialog.Content aria-describedby={undefined} className="fixed inset-0 z-70 overflow-y-auto bg-page outline-none" onEscapeKeyDown={(event) => event.preventDefault()}>
              <Dialog.Title asChild><span className="sr-only">{t('auth.signIn')}</span></Dialog.Title>
              {auth.data && !open ? <LoginCard access={auth.data} /> : null}
            </Dialog.Content>
          </Dialog.Portal>
        </Dialog.Root>
      </>
    )
  }
  if (auth.data) return <main><LoginCard access={auth.data} /></main>
  if (auth.error) {
    const offline = auth.error instanceof ApiError && auth.error.isOffline
    return (
      <main className="flex h-dvh flex-col items-center justify-center p-4">
        {offline ? (
          <EmptyState icon={WifiOff} title={t('error.offlineTitle')}>
            {t('error.offline')}
            <Spinner className="text-brand-ink" />
          </EmptyState>
        ) : (
          <ErrorNote error={auth.error} onRetry={() => void auth.refetch()} className="max-w-lg" />
        )}
      </main>
    )
  }
  return (
    <main className="flex h-dvh items-center justify-center text-brand-ink" aria-busy>
      <Spinner className="size-6" />
      <span className="sr-only">{t('auth.connecting')}</span>
    </main>
  )
}
