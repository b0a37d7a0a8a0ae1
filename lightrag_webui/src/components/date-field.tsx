import { Clock, X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '@/components/ui/button'
import { Field } from '@/components/ui/field'
import { Input, Select } from '@/components/ui/input'
import { listOf, useStored } from '@/lib/stored'
import { allZones, endIso, offsetLabel, parseWall, startIso } from '@/lib/zones'

interface DateFieldProps {
  label: string
  value: string
  onChange: (value: string) => void
  /** What a day without a time means here. */
  edge: 'start' | 'end'
  error?: string | undefined
  hint?: string | undefined
}

/** A day by the wall clock of a zone chosen beside it, on wish to the minute. */
export function DateField({ label, value, onChange, edge, error, hint }: DateFieldProps) {
  const { t } = useTranslation()
  const timed = value.length > 10
  return (
    <Field label={label} error={error} hint={hint}>
      {(ids) => (
        <span className="flex items-center gap-1">
          <Input
            {...ids}
            type={timed ? 'datetime-local' : 'date'}
            max={timed ? '9999-12-30T23:59' : '9999-12-30'}
            value={value}
            className="min-w-0 flex-1"
            onChange={(event) => {
              const next = event.target.value
              if (!next || parseWall(next)) onChange(next.slice(0, 16))
            }}
          />
          <Button
            size="icon-small"
            variant="ghost"
            aria-label={timed ? t('date.wholeDay') : t('date.addTime')}
            aria-pressed={timed}
            title={timed ? t('date.wholeDay') : t('date.addTime')}
            disabled={!value}
            className={timed ? 'text-brand-ink' : 'text-muted'}
            onClick={() => onChange(timed ? value.slice(0, 10) : `${value}T${edge === 'start' ? '00:00' : '23:59'}`)}
          >
            <Clock />
          </Button>
          <Button size="icon-small" variant="ghost" aria-label={t('action.clearNamed', { name: label })} disabled={!value} className="text-muted" onClick={() => onChange('')}>
            <X />
          </Button>
        </span>
      )}
    </Field>
  )
}

const NO_ZONES: string[] = []
const asZones = listOf((one): one is string => typeof one === 'string' && allZones().includes(one))

/** The zone whose wall clock dates are given in, with the offset that it has on the first and on the last of two days. */
export function ZoneSelect({ value, onChange, day, lastDay }: { value: string; onChange: (zone: string) => void; day?: string; lastDay?: string }) {
  const { t } = useTranslation()
  const [used, setUsed] = useStored('lightrag.zones', NO_ZONES, asZones)
  const [local, utc, ...others] = allZones()
  const recent = used.filter((zone) => zone !== local && zone !== utc)
  const choose = (zone: string) => {
    setUsed((before) => [zone, ...before.filter((one) => one !== zone)].slice(0, 5))
    onChange(zone)
  }
  // Those that are sent: the last day counts with its last moment, when the clock may have been changed.
  const offsets = [day && startIso(day, value), lastDay && endIso(lastDay, value)].filter((iso) => typeof iso === 'string' && iso).map((iso) => `UTC${String(iso).slice(-6)}`)
  const known = [local, utc, ...others].includes(value)
  return (
    <Field label={t('date.zone')} hint={t('date.zoneHint', { offset: [...new Set(offsets.length ? offsets : [offsetLabel(value)])].join(' → ') })}>
      {(ids) => (
        <Select {...ids} value={value} onChange={(event) => choose(event.target.value)}>
          {known ? null : <option value={value}>{value}</option>}
          <option value={local}>{t('date.zoneLocal', { zone: local })}</option>
          {utc && utc !== local ? <option value={utc}>UTC</option> : null}
          {recent.length ? (
            <optgroup label={t('date.zoneRecent')}>
              {recent.map((zone) => (
                <option key={zone} value={zone}>
                  {zone.replaceAll('_', ' ')}
                </option>
              ))}
            </optgroup>
          ) : null}
          <optgroup label={t('date.zoneAll')}>
            {others.map((zone) => (
              <option key={zone} value={zone}>
                {zone.replaceAll('_', ' ')}
              </option>
            ))}
          </optgroup>
        </Select>
      )}
    </Field>
  )
}
