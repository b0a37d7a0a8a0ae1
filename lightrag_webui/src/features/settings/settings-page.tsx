import { useMutation } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { toast } from 'sonner'
import { clearCache, type Health } from '@/api/lightrag'
import { Button } from '@/components/ui/button'
import { Field } from '@/components/ui/field'
import { Select } from '@/components/ui/input'
import { Segmented } from '@/components/ui/toggle'
import { errorText } from '@/lib/errors'
import { LANGUAGES, setLanguage, type Language } from '@/lib/i18n'
import { useHealth } from '@/lib/queries'
import { setTheme, useTheme, type Theme } from '@/lib/theme'

/** What a person wants to know of the server: which models answer, and where things are kept. */
function factsOf(health: Health | undefined, t: TFunction): Array<[string, string]> {
  const settings = health?.configuration ?? {}
  const say = (...names: string[]) => [...new Set(names.map((name) => String(settings[name] ?? '')).filter(Boolean))].join(' · ') || t('settings.none')
  const prefixes = settings['scope_tag_prefixes']
  const scopes = Array.isArray(prefixes) ? prefixes.join(', ') : ''
  return [
    [t('settings.version'), health?.core_version ?? '–'],
    ...(health?.configuration
      ? ([
          [t('settings.answers'), say('llm_binding', 'llm_model')],
          [t('settings.embeddings'), say('embedding_binding', 'embedding_model')],
          [t('settings.reranker'), settings['enable_rerank'] ? say('rerank_binding', 'rerank_model') : t('settings.none')],
          [t('settings.storage'), enginesOf(settings) || t('settings.none')],
          ...(settings['workspace'] ? [[t('settings.workspace'), String(settings['workspace'])]] : []),
          [t('settings.scopes'), scopes || t('settings.none')],
        ] as Array<[string, string]>)
      : []),
  ]
}

/** The engines behind the storages, each once: `SQLite` for four classes of its family. */
function enginesOf(settings: Record<string, unknown>): string {
  const names = ['kv_storage', 'doc_status_storage', 'vector_storage', 'graph_storage'].map((name) => String(settings[name] ?? ''))
  return [...new Set(names.filter(Boolean).map((name) => name.replace(/(?<!^Nano)(KV|DocStatus|VectorDB|Vector|Graph)?Storage$/, '')))].join(' · ')
}

/** All settings that the server tells, by their own names. */
function technicalOf(health: Health | undefined): Array<[string, string]> {
  return Object.entries(health?.configuration ?? {})
    .map(([name, value]): [string, string] => [name, value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value ?? '')])
    .filter(([, value]) => value && value !== '{}' && value !== '[]')
}

export default function SettingsPage() {
  const { t, i18n } = useTranslation()
  const theme = useTheme()
  const health = useHealth()
  const clear = useMutation({
    mutationFn: clearCache,
    onSuccess: () => toast.success(t('settings.cacheCleared')),
    onError: (error) => toast.error(errorText(error, t)),
  })
  const facts = factsOf(health.data, t)
  const technical = technicalOf(health.data)
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-2xl flex-col gap-8 px-4 py-6 sm:px-6">
        <h1 className="text-xl font-semibold">{t('nav.settings')}</h1>
        <section className="flex flex-col gap-4 rounded-2xl border bg-surface p-5 shadow-card">
          <h2 className="text-sm font-semibold">{t('settings.appearance')}</h2>
          <Field label={t('settings.language')}>
            {(ids) => (
              <Select {...ids} value={i18n.language} onChange={(event) => void setLanguage(event.target.value as Language)}>
                {Object.entries(LANGUAGES).map(([code, name]) => (
                  <option key={code} value={code} lang={code}>
                    {name}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <div className="flex flex-col gap-1.5">
            <span className="text-[0.8125rem] font-medium">{t('settings.theme')}</span>
            <Segmented<Theme>
              label={t('settings.theme')}
              value={theme}
              onChange={setTheme}
              className="self-start"
              options={(['system', 'light', 'dark'] as const).map((value) => ({ value, label: t(`settings.themes.${value}`) }))}
            />
          </div>
        </section>
        <section className="flex flex-col gap-3 rounded-2xl border bg-surface p-5 shadow-card">
          <h2 className="text-sm font-semibold">{t('settings.server')}</h2>
          <dl className="grid grid-cols-[minmax(0,auto)_minmax(0,1fr)] gap-x-6 gap-y-2 text-sm">
            {facts.map(([name, value]) => (
              <div key={name} className="col-span-2 grid grid-cols-subgrid">
                <dt className="text-muted">{name}</dt>
                <dd className="min-w-0 break-words"><bdi>{value}</bdi></dd>
              </div>
            ))}
          </dl>
          {technical.length ? (
            <details className="text-sm">
              <summary className="cursor-pointer rounded text-[0.8125rem] font-medium text-muted hover:text-ink">{t('settings.technical')}</summary>
              <dl dir="ltr" className="mt-3 grid grid-cols-[minmax(0,auto)_minmax(0,1fr)] gap-x-6 gap-y-1 font-mono text-xs">
                {technical.map(([name, value]) => (
                  <div key={name} className="col-span-2 grid grid-cols-subgrid">
                    <dt className="break-words text-muted">{name}</dt>
                    <dd className="min-w-0 break-words">{value}</dd>
                  </div>
                ))}
              </dl>
            </details>
          ) : null}
        </section>
        <section className="flex flex-wrap items-center gap-4 rounded-2xl border bg-surface p-5 shadow-card">
          <div className="min-w-0 flex-1">
            <h2 className="text-sm font-semibold">{t('settings.cache')}</h2>
            <p className="mt-0.5 text-sm text-muted">{t('settings.cacheText')}</p>
          </div>
          <Button disabled={clear.isPending} onClick={() => clear.mutate()}>
            {t('settings.clearCache')}
          </Button>
        </section>
      </div>
    </div>
  )
}
