import { ChevronRight, Info } from 'lucide-react'
import { useMemo, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { DateField, ZoneSelect } from '@/components/date-field'
import { DateHistogram } from '@/components/filters/histogram'
import { PresetMenu } from '@/components/filters/preset-menu'
import { SavedFilters } from '@/components/filters/saved-filters'
import { TagInput } from '@/components/tag-input'
import { Field } from '@/components/ui/field'
import { Select } from '@/components/ui/input'
import { Segmented, Switch } from '@/components/ui/toggle'
import { countedTags } from '@/lib/facets'
import { filterFault, presetOf, RANGE_MODES, SHAPES, toPayload, UNDATED, withPreset, type FilterState } from '@/lib/filters'
import { useFacets, useHealth } from '@/lib/queries'
import { scopeFault, scopePrefixes } from '@/lib/scopes'
import type { SetFilter } from '@/lib/use-filter'

interface PanelProps {
  state: FilterState
  onChange: SetFilter
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-3">
      <h3 className="text-xs font-semibold tracking-wide text-muted">{title}</h3>
      {children}
    </section>
  )
}

export function More({ title, children, open }: { title: string; children: ReactNode; open?: boolean }) {
  return (
    <details className="group rounded-xl border" {...(open ? { open: true } : {})}>
      <summary className="flex cursor-pointer list-none items-center gap-2 rounded-xl px-3 py-2.5 text-[0.8125rem] font-medium select-none">
        <ChevronRight className="size-4 text-muted transition-transform group-open:rotate-90 rtl:rotate-180 rtl:group-open:rotate-90" aria-hidden />
        {title}
      </summary>
      <div className="flex flex-col gap-4 border-t px-3 py-3.5">{children}</div>
    </details>
  )
}

/** Everything by which documents can be limited, in the words of a person. */
export function FilterPanel({ state, onChange }: PanelProps) {
  const { t } = useTranslation()
  return (
    <div className="flex flex-col gap-6">
      <DatePart state={state} onChange={onChange} />
      <TagPart state={state} onChange={onChange} />
      <SourcePart state={state} onChange={onChange} />
      <Section title={t('filter.saved')}>
        <SavedFilters state={state} onChange={onChange} />
      </Section>
      <More title={t('filter.inspect')}>
        <p className="text-xs leading-snug text-muted">{t('filter.inspectHint')}</p>
        <pre dir="ltr" data-testid="filter-payload" className="max-h-72 overflow-auto rounded-lg bg-sunken p-2.5 text-xs leading-relaxed">
          {JSON.stringify(toPayload(state), null, 2)}
        </pre>
      </More>
    </div>
  )
}

function DatePart({ state, onChange }: PanelProps) {
  const { t } = useTranslation()
  const facets = useFacets()
  const preset = presetOf(state)
  const windowless = state.undated === 'only'
  const fault = filterFault(state) === 'order' ? t('filter.fault.order') : undefined
  const lonely = state.undated === 'include_or' && !state.from && !state.to && state.shape === 'any'
  return (
    <Section title={t('filter.dates')}>
      <Field label={t('filter.intent')} hint={preset ? t(`filter.preset.${preset}.hint`) : t('filter.preset.customHint')}>
        {(ids) => <PresetMenu id={ids.id} describedBy={ids['aria-describedby']} label={t('filter.intent')} value={preset} onChange={(name) => onChange(withPreset(state, name))} />}
      </Field>
      {windowless ? null : (
        <>
          {facets.data ? <DateHistogram bars={facets.data.histogram} from={state.from} to={state.to} onChange={(from, to) => onChange({ from, to })} /> : <div className="h-27" />}
          {facets.data?.undated ? <p className="-mt-1.5 px-2 text-xs text-muted">{t('filter.undated.hint', { count: facets.data.undated })}</p> : null}
          <DateField label={t('filter.from')} edge="start" value={state.from} onChange={(from) => onChange({ from })} />
          <DateField label={t('filter.to')} edge="end" value={state.to} onChange={(to) => onChange({ to })} error={fault} hint={state.to ? t('filter.toHint') : undefined} />
          <ZoneSelect value={state.zone} onChange={(zone) => onChange({ zone })} day={state.from} lastDay={state.to} />
        </>
      )}
      {lonely ? (
        <p className="flex gap-2 rounded-lg bg-filter px-2.5 py-2 text-xs leading-snug text-filter-ink">
          <Info className="size-4 shrink-0" aria-hidden />
          {t('filter.lonely')}
        </p>
      ) : null}
      <More title={t('filter.advanced')}>
        <Choice label={t('filter.mode.label')} hint={t(`filter.mode.${state.rangeMode}Hint`)} value={state.rangeMode} options={RANGE_MODES} disabled={windowless} text={(one) => t(`filter.mode.${one}`)} onChange={(rangeMode) => onChange({ rangeMode })} />
        <Choice label={t('filter.shape.label')} hint={t('filter.shape.hint')} value={state.shape} options={SHAPES} disabled={windowless} text={(one) => t(`filter.shape.${one}`)} onChange={(shape) => onChange({ shape })} />
        <Choice label={t('filter.undated.label')} hint={facets.data ? t('filter.undated.hint', { count: facets.data.undated }) : undefined} value={state.undated} options={UNDATED} text={(one) => t(`filter.undated.${one}`)} onChange={(undated) => onChange({ undated })} />
      </More>
    </Section>
  )
}

function Choice<T extends string>({ label, hint, value, options, text, onChange, disabled }: {
  label: string
  hint?: string | undefined
  value: T
  options: readonly T[]
  text: (one: T) => string
  onChange: (value: T) => void
  disabled?: boolean
}) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <Select {...ids} disabled={disabled} value={value} onChange={(event) => onChange(event.target.value as T)}>
          {options.map((one) => (
            <option key={one} value={one}>
              {text(one)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}

function TagPart({ state, onChange }: PanelProps) {
  const { t } = useTranslation()
  const facets = useFacets()
  const health = useHealth()
  const suggestions = useMemo(() => countedTags(facets.data), [facets.data])
  const prefixes = scopePrefixes(health.data)
  const fault = scopeFault(state.required, state.forbidden, prefixes)
  return (
    <Section title={t('filter.tags')}>
      <Field label={t('filter.required')} hint={prefixes.length ? t('filter.requiredScopes', { prefixes: prefixes.join(', ') }) : undefined} error={fault === 'two' ? t('filter.fault.scopes') : undefined}>
        {(ids) => <TagInput id={ids.id} describedBy={ids['aria-describedby']} label={t('filter.required')} value={state.required} suggestions={suggestions} placeholder={t('tags.placeholder')} onChange={(required) => onChange({ required })} />}
      </Field>
      {state.required.length > 1 ? (
        <Segmented label={t('filter.requiredMode')} value={state.requiredMode} options={[{ value: 'and', label: t('filter.allTags') }, { value: 'or', label: t('filter.anyTag') }]} onChange={(requiredMode) => onChange({ requiredMode })} />
      ) : null}
      <Field label={t('filter.forbidden')} error={fault === 'clash' ? t('filter.fault.scopeClash') : undefined}>
        {(ids) => <TagInput id={ids.id} describedBy={ids['aria-describedby']} label={t('filter.forbidden')} tone="danger" value={state.forbidden} suggestions={suggestions} placeholder={t('tags.placeholder')} onChange={(forbidden) => onChange({ forbidden })} />}
      </Field>
      {state.forbidden.length ? <Switch checked={state.applyForbiddenToKg} onChange={(applyForbiddenToKg) => onChange({ applyForbiddenToKg })} label={t('filter.kg')} hint={t('filter.kgHint')} /> : null}
    </Section>
  )
}

function SourcePart({ state, onChange }: PanelProps) {
  const { t } = useTranslation()
  const facets = useFacets()
  const types = useMemo(() => Object.entries(facets.data?.doc_types ?? {}).filter(([value]) => value).map(([value, count]) => ({ value, count })), [facets.data])
  const folders = useMemo(() => Object.entries(facets.data?.folders ?? {}).map(([value, count]) => ({ value, count })), [facets.data])
  const used = state.docTypes.length + state.folders.length > 0 || Boolean(state.modifiedFrom || state.modifiedTo)
  const fault = filterFault(state) === 'modifiedOrder' ? t('filter.fault.modifiedOrder') : undefined
  return (
    <More title={t('filter.source')} open={used}>
      <Field label={t('filter.docTypes')}>
        {(ids) => <TagInput id={ids.id} label={t('filter.docTypes')} value={state.docTypes} suggestions={types} normalize={(text) => text.trim()} onChange={(docTypes) => onChange({ docTypes })} />}
      </Field>
      <Field label={t('filter.folders')} hint={t('filter.foldersHint')}>
        {(ids) => <TagInput id={ids.id} describedBy={ids['aria-describedby']} label={t('filter.folders')} value={state.folders} suggestions={folders} normalize={(text) => text.trim()} onChange={(list) => onChange({ folders: list })} />}
      </Field>
      <DateField label={t('filter.modifiedFrom')} edge="start" value={state.modifiedFrom} onChange={(modifiedFrom) => onChange({ modifiedFrom })} />
      <DateField label={t('filter.modifiedTo')} edge="end" value={state.modifiedTo} onChange={(modifiedTo) => onChange({ modifiedTo })} error={fault} />
    </More>
  )
}
