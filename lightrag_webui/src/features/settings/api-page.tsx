import { useTranslation } from 'react-i18next'
import { apiRoot } from '@/api/http'
import { EmptyState, ErrorNote, Skeleton } from '@/components/ui/feedback'
import { useHealth } from '@/lib/queries'
import { Braces } from 'lucide-react'

/** The server's own description of its interface. */
export default function ApiPage() {
  const { t } = useTranslation()
  const health = useHealth()
  if (!health.data && health.error) return <ErrorNote error={health.error} className="m-6" />
  if (!health.data) return <Skeleton className="m-6 h-64" />
  if (health.data.api_docs_available === false) return <EmptyState icon={Braces} title={t('api.off')}>{t('api.offText')}</EmptyState>
  return <iframe title={t('api.title')} src={`${apiRoot()}/docs`} className="size-full border-0 bg-white dark:hue-rotate-180 dark:invert-93" />
}
