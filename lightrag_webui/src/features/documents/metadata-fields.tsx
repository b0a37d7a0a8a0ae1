import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { ApiError } from '@/api/http'
import { DateField, ZoneSelect } from '@/components/date-field'
import { TagInput } from '@/components/tag-input'
import { Field } from '@/components/ui/field'
import { Input, Textarea } from '@/components/ui/input'
import { countedTags } from '@/lib/facets'
import { useFacets } from '@/lib/queries'
import { faultsOf, MAX_TAGS, type MetadataForm } from './metadata'

interface MetadataFieldsProps {
  form: MetadataForm
  onChange: (change: Partial<MetadataForm>) => void
  /** What the server said against it. */
  error?: ApiError | null
}

/** Dates, tags, type and free metadata of documents. */
export function MetadataFields({ form, onChange, error }: MetadataFieldsProps) {
  const { t } = useTranslation()
  const facets = useFacets()
  const tags = useMemo(() => countedTags(facets.data), [facets.data])
  const types = Object.keys(facets.data?.doc_types ?? {}).filter(Boolean)
  const faults = faultsOf(form)
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <DateField label={t('metadata.start')} edge="start" value={form.from} error={error?.faultOf('start_date')} onChange={(from) => onChange({ from })} />
        <DateField label={t('metadata.end')} edge="end" value={form.to} error={faults.to ? t('filter.fault.order') : error?.faultOf('end_date')} onChange={(to) => onChange({ to })} hint={form.to ? t('filter.toHint') : undefined} />
      </div>
      {form.from || form.to ? <ZoneSelect value={form.zone} day={form.from || form.to} onChange={(zone) => onChange({ zone })} /> : null}
      <Field label={t('metadata.tags')} hint={t('metadata.tagsHint')} error={error?.faultOf('tags')}>
        {(ids) => <TagInput id={ids.id} describedBy={ids['aria-describedby']} invalid={Boolean(ids['aria-invalid'])} tone="plain" max={MAX_TAGS} label={t('metadata.tags')} value={form.tags} suggestions={tags} placeholder={t('tags.placeholder')} onChange={(value) => onChange({ tags: value })} />}
      </Field>
      <Field label={t('metadata.type')} error={error?.faultOf('doc_type')}>
        {(ids) => (
          <>
            <Input {...ids} list={`${ids.id}-types`} value={form.docType} onChange={(event) => onChange({ docType: event.target.value })} />
            <datalist id={`${ids.id}-types`}>
              {types.map((type) => (
                <option key={type} value={type} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <Field label={t('metadata.meta')} hint={t('metadata.metaHint')} error={faults.meta ? t(`metadata.fault.${faults.meta}`) : error?.faultOf('meta')}>
        {(ids) => <Textarea {...ids} dir="ltr" rows={4} spellCheck={false} className="font-mono text-xs" placeholder={'{ "href": "https://…", "title": "…" }'} value={form.meta} onChange={(event) => onChange({ meta: event.target.value })} />}
      </Field>
    </div>
  )
}
