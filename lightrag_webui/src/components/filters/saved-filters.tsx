import { Bookmark, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '@/components/ui/button'
import { Input } from '@/components/ui/input'
import { filterQuery, readFilter } from '@/lib/filter-url'
import { isActive, type FilterState } from '@/lib/filters'
import { isRecord, listOf, useStored } from '@/lib/stored'
import type { SetFilter } from '@/lib/use-filter'

interface Saved {
  name: string
  query: string
}

const NONE: Saved[] = []
const asSaved = listOf((one): one is Saved => isRecord(one) && typeof one['name'] === 'string' && typeof one['query'] === 'string')

/** Filters that this browser keeps by name. */
export function SavedFilters({ state, onChange }: { state: FilterState; onChange: SetFilter }) {
  const { t } = useTranslation()
  const [saved, setSaved] = useStored('lightrag.filters', NONE, asSaved)
  const [name, setName] = useState('')
  const save = () => {
    const trimmed = name.trim()
    if (!trimmed) return
    setSaved((before) => [...before.filter((one) => one.name !== trimmed), { name: trimmed, query: filterQuery(state) }].sort((a, b) => a.name.localeCompare(b.name)))
    setName('')
  }
  return (
    <div className="flex flex-col gap-2">
      {saved.length ? (
        <ul className="flex flex-col gap-0.5">
          {saved.map((one) => (
            <li key={one.name} className="flex items-center gap-1">
              <button type="button" className="flex min-w-0 flex-1 items-center gap-2 rounded-lg px-2 py-1.5 text-start text-sm hover:bg-sunken" onClick={() => onChange(readFilter(new URLSearchParams(one.query)))}>
                <Bookmark className="size-3.5 shrink-0 text-filter-ink" aria-hidden />
                <span className="truncate">{one.name}</span>
              </button>
              <Button variant="ghost" size="icon-small" className="text-muted" aria-label={t('action.deleteNamed', { name: one.name })} onClick={() => setSaved((before) => before.filter((other) => other.name !== one.name))}>
                <Trash2 />
              </Button>
            </li>
          ))}
        </ul>
      ) : (
        <p className="text-xs leading-snug text-muted">{t('filter.savedNone')}</p>
      )}
      <form
        className="flex gap-1.5"
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <Input value={name} maxLength={80} disabled={!isActive(state)} placeholder={t('filter.savedName')} aria-label={t('filter.savedName')} onChange={(event) => setName(event.target.value)} />
        <Button type="submit" disabled={!name.trim() || !isActive(state)}>
          <Plus />
          {t('action.save')}
        </Button>
      </form>
    </div>
  )
}
