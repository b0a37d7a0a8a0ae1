import { CircleAlert, WifiOff } from 'lucide-react'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { useRouteError } from 'react-router'
import { Button } from '@/components/ui/button'
import { EmptyState, Spinner } from '@/components/ui/feedback'
import { errorText } from '@/lib/errors'
import { useHealth } from '@/lib/queries'
import { isLoadError, reloadIfServed } from '@/lib/load-errors'

const AGAIN = 2000

/** Shown instead of a page that failed: never a blank one. */
export function ErrorPage() {
  const { t } = useTranslation()
  const error = useRouteError()
  const { refetch } = useHealth()
  const loading = isLoadError(error)
  useEffect(() => {
    if (!loading) return undefined
    void reloadIfServed()
    void refetch()
    const timer = setInterval(() => void reloadIfServed(), AGAIN)
    return () => clearInterval(timer)
  }, [loading, refetch])
  return (
    <div role="alert" className="flex h-full min-h-80 flex-col items-center justify-center p-4">
      <EmptyState icon={loading ? WifiOff : CircleAlert} title={loading ? t('error.offlineTitle') : t('error.page')}>
        <p className="max-w-prose break-words">{loading ? t('error.offline') : errorText(error, t)}</p>
        {loading ? <Spinner className="text-brand-ink" /> : <Button onClick={() => window.location.reload()}>{t('action.retry')}</Button>}
      </EmptyState>
    </div>
  )
}
