import { Layers } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Select } from '@/components/ui/input'
import { Tooltip } from '@/components/ui/overlay'
import { countOf } from '@/lib/facets'
import { useFacets } from '@/lib/queries'
import { groupScopes } from './graph-data'
import { useScopes } from './useLightragGraph'

/** Whose knowledge the graph shows: all of it, or that of one scope. */
export function ScopeSelect({ value, onChange }: { value: string | null; onChange: (scope: string | null) => void }) {
  const { t } = useTranslation()
  const scopes = useScopes()
  const facets = useFacets()
  const groups = groupScopes(scopes.data ?? [])
  const known = !value || scopes.data?.includes(value)
  const text = (scope: string) => t('graphPanel.scope.option', { scope, count: countOf(facets.data, scope) })
  return (
    <Tooltip text={t('graphPanel.scope.tooltip')}>
      <span className="flex min-w-0 items-center gap-1.5">
        <Layers className={value ? 'size-4 shrink-0 text-filter-ink' : 'size-4 shrink-0 text-muted'} aria-hidden />
        <Select aria-label={t('graphPanel.scope.label')} data-testid="scope-select" className={value ? 'max-w-72 [&>select]:border-filter-line [&>select]:bg-filter [&>select]:font-medium [&>select]:text-filter-ink' : 'max-w-72'} value={value ?? ''} onChange={(event) => onChange(event.target.value || null)}>
          <option value="">{t('graphPanel.scope.all')}</option>
          {known ? null : <option value={value}>{value}</option>}
          {groups.map((group) => (
            <optgroup key={group.prefix} label={group.prefix}>
              {group.scopes.map((scope) => (
                <option key={scope} value={scope}>
                  {text(scope)}
                </option>
              ))}
            </optgroup>
          ))}
        </Select>
      </span>
    </Tooltip>
  )
}
