import { useQuery } from '@tanstack/react-query'
import { Search, X } from 'lucide-react'
import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '@/components/ui/button'
import { Input } from '@/components/ui/input'
import { cn } from '@/lib/cn'
import { toPayload, type FilterState } from '@/lib/filters'
import { useSettled } from '@/lib/queries'
import { searchNames } from './useLightragGraph'

interface GraphSearchProps {
  scope: string | null
  filter: FilterState
  /** Entity that the graph is around, `*` for none. */
  centre: string
  onCentre: (name: string) => void
}

/** Finds an entity that scope and filter let be seen, and puts the graph around it. */
export function GraphSearch({ scope, filter, centre, onCentre }: GraphSearchProps) {
  const { t } = useTranslation()
  const listId = useId()
  const [text, setText] = useState('')
  const [open, setOpen] = useState(false)
  const [active, setActive] = useState(0)
  const wanted = useSettled(text.trim(), 150)
  const found = useQuery({
    queryKey: ['labels', wanted, scope, toPayload(filter)],
    queryFn: ({ signal }) => searchNames(wanted, scope, filter, signal),
    enabled: wanted.length > 0,
  })
  const names = wanted ? (found.data ?? []) : []
  const choose = (name: string) => {
    onCentre(name)
    setText('')
    setOpen(false)
  }
  return (
    <div className="relative min-w-44 flex-1 sm:w-60 sm:flex-none">
      <Search className="pointer-events-none absolute start-2.5 top-1/2 size-4 -translate-y-1/2 text-muted" aria-hidden />
      <Input
        role="combobox"
        aria-label={t('graphPanel.search')}
        aria-expanded={open && names.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={open && names.length ? `${listId}-${active}` : undefined}
        className="ps-8 pe-9"
        value={text}
        placeholder={centre === '*' ? t('graphPanel.search') : centre}
        onChange={(event) => {
          setText(event.target.value)
          setOpen(true)
          setActive(0)
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault()
            setActive((before) => (names.length ? (before + (event.key === 'ArrowDown' ? 1 : names.length - 1)) % names.length : 0))
          } else if (event.key === 'Enter' && names[active]) choose(names[active])
          else if (event.key === 'Escape') setOpen(false)
        }}
      />
      {centre === '*' ? null : (
        <Button variant="ghost" size="icon-small" className="absolute end-0.5 top-0.5 text-muted" aria-label={t('graphPanel.wholeGraph')} onClick={() => onCentre('*')}>
          <X />
        </Button>
      )}
      {open && wanted && found.data?.length === 0 ? <p role="status" className="absolute inset-x-0 top-full z-20 mt-1 rounded-xl border bg-raised px-3 py-2.5 text-sm text-muted shadow-float">{t('graphPanel.searchNone')}</p> : null}
      <ul id={listId} role="listbox" aria-label={t('graphPanel.search')} hidden={!open || !names.length} className="absolute inset-x-0 top-full z-20 mt-1 max-h-72 overflow-y-auto rounded-xl border bg-raised p-1 shadow-float">
        {names.map((name, index) => (
          // The keyboard reaches the options through the input, as a combobox wants it.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <li key={name} id={`${listId}-${index}`} role="option" aria-selected={index === active} className={cn('cursor-pointer rounded-lg px-2.5 py-1.5 text-sm', index === active && 'bg-sunken')} onPointerEnter={() => setActive(index)} onPointerDown={(event) => event.preventDefault()} onClick={() => choose(name)}>
            <bdi>{name}</bdi>
          </li>
        ))}
      </ul>
    </div>
  )
}
