import { useTranslation } from 'react-i18next'
import { useRouteError } from 'react-router'
import { ErrorNote } from '@/components/ui/feedback'

/** Shown instead of a page that failed: never a blank one. */
export function ErrorPage() {
  const { t } = useTranslation()
  const error = useRouteError()
  return (
    <div className="mx-auto flex max-w-xl flex-col gap-4 p-6">
      <h1 className="text-lg font-semibold">{t('error.page')}</h1>
      <ErrorNote error={error} onRetry={() => window.location.reload()} />
    </div>
  )
}
