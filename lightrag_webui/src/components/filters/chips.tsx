import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '@/components/tags'
import { emptyFilter, isActive, presetOf, type FilterState } from '@/lib/filters'
import { formatWall } from '@/lib/format'
import { localZone } from '@/lib/zones'
import type { SetFilter } from '@/lib/use-filter'

interface ChipData {
  key: string
  text: string
  tone?: 'filter' | 'danger'
  remove: Partial<FilterState>
}

type Words = (key: string, values?: Record<string, unknown>) => string

/** Every part of a filter that is in force, in words, with what takes it away. */
export function chipsOf(state: FilterState, t: Words, language: string): ChipData[] {
  const chips: ChipData[] = []
  const without = (list: readonly string[], value: string) => list.filter((one) => one !== value)
  const spanOf = (from: string, to: string) => {
    if (from && from === to) return formatWall(from, language)
    if (from && to) return t('filter.chip.between', { from: formatWall(from, language), to: formatWall(to, language) })
    return from ? t('filter.chip.since', { from: formatWall(from, language) }) : t('filter.chip.until', { to: formatWall(to, language) })
  }
  // By whose clock is said only where it is not that of the wall here.
  const span = (from: string, to: string) => (state.zone === localZone() ? spanOf(from, to) : `${spanOf(from, to)} (${state.zone.replaceAll('_', ' ')})`)

  if (state.undated === 'only') {
    chips.push({ key: 'only', text: t('filter.undated.only'), remove: { undated: 'exclude' } })
  } else {
    if (state.from || state.to) {
      const verb = state.rangeMode === 'overlap' ? '' : `${t(`filter.mode.${state.rangeMode}`)}: `
      chips.push({ key: 'dates', text: verb + span(state.from, state.to), remove: { from: '', to: '', rangeMode: 'overlap' } })
    }
    if (state.shape !== 'any') chips.push({ key: 'shape', text: t(`filter.shape.${state.shape}`), remove: { shape: 'any' } })
    if (state.undated === 'include_or') chips.push({ key: 'undated', text: t('filter.undated.include_or'), remove: { undated: 'exclude' } })
  }
  const or = state.requiredMode === 'or' && state.required.length > 1
  state.required.forEach((tag, index) => {
    chips.push({ key: `tag:${tag}`, text: or && index ? t('filter.chip.or', { tag }) : tag, remove: { required: without(state.required, tag) } })
  })
  for (const tag of state.forbidden) {
    chips.push({ key: `not:${tag}`, text: t('filter.chip.not', { tag }), tone: 'danger', remove: { forbidden: without(state.forbidden, tag) } })
  }
  if (state.forbidden.length && state.applyForbiddenToKg) {
    chips.push({ key: 'kg', text: t('filter.chip.kg'), tone: 'danger', remove: { applyForbiddenToKg: false } })
  }
  for (const type of state.docTypes) chips.push({ key: `type:${type}`, text: t('filter.chip.type', { type }), remove: { docTypes: without(state.docTypes, type) } })
  for (const folder of state.folders) chips.push({ key: `folder:${folder}`, text: t('filter.chip.folder', { folder }), remove: { folders: without(state.folders, folder) } })
  if (state.modifiedFrom || state.modifiedTo) {
    chips.push({ key: 'modified', text: t('filter.chip.modified', { span: span(state.modifiedFrom, state.modifiedTo) }), remove: { modifiedFrom: '', modifiedTo: '' } })
  }
  return chips
}

/** The filter in force as closable chips, with "clear all" beside. */
export function FilterChips({ state, onChange, onOpen, children }: { state: FilterState; onChange: SetFilter; onOpen?: () => void; children?: ReactNode }) {
  const { t, i18n } = useTranslation()
  if (!isActive(state)) return null
  const chips = chipsOf(state, t as Words, i18n.language)
  const preset = presetOf(state)
  const named = preset && preset !== 'broad_retrieval' && preset !== 'uncatalogued_only' ? t(`filter.preset.${preset}.name`) : null
  return (
    <ul aria-label={t('filter.active')} className="flex flex-wrap items-center gap-1.5">
      {named ? <li className="text-xs font-medium text-filter-ink">{named}</li> : null}
      {chips.map((chip) => (
        <li key={chip.key} className="min-w-0">
          <Chip tone={chip.tone ?? 'filter'} label={chip.text} onRemove={() => onChange(chip.remove)} onOpen={onOpen}>
            <bdi>{chip.text}</bdi>
          </Chip>
        </li>
      ))}
      <li>
        <button type="button" className="rounded px-1.5 text-[0.8125rem] font-medium text-muted underline-offset-2 hover:text-ink hover:underline" onClick={() => onChange(emptyFilter(state.zone))}>
          {t('filter.clearAll')}
        </button>
      </li>
      {children ? <li className="flex items-center">{children}</li> : null}
    </ul>
  )
}
