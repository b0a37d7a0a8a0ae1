import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { toast } from 'sonner'
import { clearCache } from '@/api/lightrag'
import { Button } from '@/components/ui/button'
import { Field } from '@/components/ui/field'
import { Select } from '@/components/ui/input'
import { Segmented } from '@/components/ui/toggle'
import { errorText } from '@/lib/errors'
import { LANGUAGES, setLanguage, type Language } from '@/lib/i18n'
import { useHealth } from '@/lib/queries'
import { setTheme, useTheme, type Theme } from '@/lib/theme'

const SHOWN = ['llm_binding', 'llm_model', 'embedding_binding', 'embedding_model', 'enable_rerank', 'rerank_model', 'kv_storage', 'vector_storage', 'graph_storage', 'doc_status_storage', 'workspace', 'max_graph_nodes', 'summary_language', 'cosine_threshold'] as const

export default function SettingsPage() {
  const { t, i18n } = useTranslation()
  const theme = useTheme()
  const health = useHealth()
  const clear = useMutation({
    mutationFn: clearCache,
    onSuccess: () => toast.success(t('settings.cacheCleared')),
    onError: (error) => toast.error(errorText(error, t)),
  })
  const configuration = health.data?.configuration
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
            <dt className="text-muted">{t('settings.version')}</dt>
            <dd>{health.data?.core_version ?? '–'}</dd>
            {SHOWN.map((name) => {
              const value = configuration?.[name]
              if (value == null || value === '') return null
              return (
                <div key={name} className="col-span-2 grid grid-cols-subgrid">
                  <dt className="text-muted" dir="ltr">{name}</dt>
                  <dd className="min-w-0 break-words" dir="ltr">{String(value)}</dd>
                </div>
              )
            })}
          </dl>
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
