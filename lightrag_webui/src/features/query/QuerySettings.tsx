import { RotateCcw } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { FilterPanel } from '@/components/filters/filter-panel'
import { Button } from '@/components/ui/button'
import { Field } from '@/components/ui/field'
import { Input, Select, Textarea } from '@/components/ui/input'
import { Segmented, Switch } from '@/components/ui/toggle'
import type { FilterState } from '@/lib/filters'
import { useParam, type SetFilter } from '@/lib/use-filter'
import { DEFAULT_SETTINGS, MODES, NUMBERS, type AnswerSettings, type Mode } from './settings'

interface QuerySettingsProps {
  filter: FilterState
  onFilter: SetFilter
  mode: Mode
  onMode: (mode: Mode) => void
  settings: AnswerSettings
  onSettings: (settings: AnswerSettings) => void
}

/** What a question is limited to, and how it is answered. */
export function QuerySettings({ filter, onFilter, ...answer }: QuerySettingsProps) {
  const { t } = useTranslation()
  const [tab, setTab] = useParam('tab', 'filters')
  return (
    <div className="flex flex-col gap-5">
      <Segmented label={t('ask.panel')} value={tab === 'answer' ? 'answer' : 'filters'} onChange={setTab} options={[{ value: 'filters', label: t('filter.title') }, { value: 'answer', label: t('ask.settings') }]} />
      {tab === 'answer' ? <AnswerPart {...answer} /> : <FilterPanel state={filter} onChange={onFilter} />}
    </div>
  )
}

function AnswerPart({ mode, onMode, settings, onSettings }: Omit<QuerySettingsProps, 'filter' | 'onFilter'>) {
  const { t } = useTranslation()
  const set = (change: Partial<AnswerSettings>) => onSettings({ ...settings, ...change })
  return (
    <div className="flex flex-col gap-4">
      <Field label={t('ask.mode.label')} hint={t(`ask.mode.${mode}Hint`)}>
        {(ids) => (
          <Select {...ids} value={mode} onChange={(event) => onMode(event.target.value as Mode)}>
            {MODES.map((one) => (
              <option key={one} value={one}>
                {t(`ask.mode.${one}`)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <div className="grid grid-cols-2 items-end gap-3">
        {(Object.keys(NUMBERS) as Array<keyof typeof NUMBERS>).map((name) => (
          <Field key={name} label={t(`ask.number.${name}`)}>
            {(ids) => (
              <Input
                {...ids}
                type="number"
                min={1}
                max={NUMBERS[name]}
                placeholder={t('ask.default')}
                value={settings[name] ?? ''}
                onChange={(event) => {
                  const value = Math.floor(event.target.valueAsNumber)
                  set({ [name]: Number.isFinite(value) ? Math.min(NUMBERS[name], Math.max(1, value)) : null })
                }}
              />
            )}
          </Field>
        ))}
        <Field label={t('ask.turns')}>
          {(ids) => <Input {...ids} type="number" min={0} max={20} value={settings.history_turns} onChange={(event) => set({ history_turns: Math.min(20, Math.max(0, Math.floor(event.target.valueAsNumber) || 0)) })} />}
        </Field>
      </div>
      <Field label={t('ask.responseType')}>
        {(ids) => <Input {...ids} maxLength={512} placeholder={t('ask.responseTypeExample')} value={settings.response_type} onChange={(event) => set({ response_type: event.target.value })} />}
      </Field>
      <Field label={t('ask.userPrompt')}>
        {(ids) => <Textarea {...ids} rows={3} maxLength={32_768} placeholder={t('ask.userPromptExample')} value={settings.user_prompt} onChange={(event) => set({ user_prompt: event.target.value })} />}
      </Field>
      <Switch checked={settings.include_document_metadata} onChange={(value) => set({ include_document_metadata: value })} label={t('ask.showMetadata')} hint={t('ask.showMetadataHint')} />
      <Switch checked={settings.enable_rerank ?? true} onChange={(value) => set({ enable_rerank: value })} label={t('ask.rerank')} hint={t('ask.rerankHint')} />
      <Switch checked={settings.stream} onChange={(value) => set({ stream: value })} label={t('ask.stream')} />
      <Button variant="ghost" size="small" className="self-start text-muted" onClick={() => { onSettings(DEFAULT_SETTINGS); onMode('mix') }}>
        <RotateCcw />
        {t('ask.reset')}
      </Button>
    </div>
  )
}
