import { FileText, ListFilter, Quote, Waypoints } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { useFacets } from '@/lib/queries'

/** What can be done here, before anything was asked. */
export function Welcome({ onAsk }: { onAsk: (question: string) => void }) {
  const { t } = useTranslation()
  const facets = useFacets()
  const empty = facets.data?.documents === 0
  const points = [
    { icon: ListFilter, text: t('welcome.filter') },
    { icon: Quote, text: t('welcome.references') },
    { icon: Waypoints, text: t('welcome.graph') },
  ]
  return (
    <div className="flex flex-col items-center gap-8 pt-[8vh] text-center">
      <div>
        <h1 className="text-2xl font-semibold tracking-tight sm:text-3xl">{t('welcome.title')}</h1>
        <p className="mt-2 min-h-6 text-muted">{facets.data ? (empty ? t('welcome.empty') : t('welcome.text', { count: facets.data.documents })) : ''}</p>
      </div>
      {empty ? (
        <Link to="/documents" className="inline-flex h-10 items-center gap-2 rounded-xl bg-brand px-4 text-sm font-medium text-on-brand hover:brightness-110">
          <FileText className="size-4" aria-hidden />
          {t('welcome.toDocuments')}
        </Link>
      ) : (
        <ul className="flex flex-wrap justify-center gap-2">
          {(['topics', 'changes', 'people'] as const).map((name) => (
            <li key={name}>
              <button type="button" className="rounded-full border bg-surface px-3.5 py-2 text-sm shadow-card hover:border-brand/60" onClick={() => onAsk(t(`welcome.ask.${name}`))}>
                {t(`welcome.ask.${name}`)}
              </button>
            </li>
          ))}
        </ul>
      )}
      <ul className="grid w-full gap-3 text-start sm:grid-cols-3">
        {points.map(({ icon: Icon, text }) => (
          <li key={text} className="flex gap-3 rounded-xl p-3 text-sm leading-relaxed text-muted">
            <Icon className="mt-0.5 size-4.5 shrink-0 text-brand-ink" aria-hidden />
            {text}
          </li>
        ))}
      </ul>
    </div>
  )
}
