import { useQueryClient } from '@tanstack/react-query'
import { WifiOff } from 'lucide-react'
import { useEffect, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { EmptyState, ErrorNote, Spinner } from '@/components/ui/feedback'
import { ApiError } from '@/api/http'
import { isAuthError } from '@/lib/errors'
import { KeyPage, LoginPage } from './login-page'
import { AUTH_KEY, useAuth } from './use-auth'

/** Lets nobody in whom the server refuses, and says at any time what is the matter. */
export function AuthGate({ children }: { children: ReactNode }) {
  const { t } = useTranslation()
  const auth = useAuth()
  const client = useQueryClient()

  // Any request may find out that the credential is no longer good.
  useEffect(
    () =>
      client.getQueryCache().subscribe((event) => {
        if (event.type !== 'updated' || event.action.type !== 'error' || event.query.queryKey[0] === AUTH_KEY[0]) return
        if (isAuthError(event.action.error)) void client.invalidateQueries({ queryKey: AUTH_KEY })
      }),
    [client],
  )

  if (auth.data?.state === 'login') return <LoginPage expired={auth.data.expired} />
  if (auth.data?.state === 'key') return <KeyPage refused={auth.data.refused} />
  if (auth.data) return children
  if (auth.error) {
    const offline = auth.error instanceof ApiError && auth.error.isOffline
    return (
      <main className="flex h-dvh flex-col items-center justify-center">
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
