import { useId, useMemo, useRef, useState, type KeyboardEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '@/components/tags'
import { INPUT_CLASS } from '@/components/ui/input'
import { cn } from '@/lib/cn'
import { normalizeTag } from '@/lib/filters'

export interface Suggestion {
  value: string
  count: number
}

interface TagInputProps {
  id?: string
  label: string
  value: readonly string[]
  onChange: (value: string[]) => void
  suggestions: readonly Suggestion[]
  placeholder?: string
  tone?: 'filter' | 'plain' | 'danger'
  max?: number
  /** Turns what was typed into what is kept; tags have a normal form, folders have none. */
  normalize?: (text: string) => string
  describedBy?: string | undefined
  invalid?: boolean
}

const SHOWN = 40

/** Several values as chips, chosen from what the corpus has or typed freely. A combobox for keyboards and readers. */
export function TagInput({ id, label, value, onChange, suggestions, placeholder, tone = 'filter', max = 32, normalize = normalizeTag, describedBy, invalid }: TagInputProps) {
  const { t } = useTranslation()
  const own = useId()
  const listId = `${own}-list`
  const input = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLUListElement>(null)
  const [text, setText] = useState('')
  const [open, setOpen] = useState(false)
  const [active, setActive] = useState(-1)

  const offered = useMemo(() => {
    const wanted = text.trim().toLowerCase()
    const plain = normalize(text)
    return suggestions
      .filter((one) => !value.includes(one.value) && (!wanted || one.value.toLowerCase().includes(wanted) || (plain && one.value.includes(plain))))
      .slice(0, SHOWN)
  }, [suggestions, text, value, normalize])

  const add = (raw: string) => {
    const parts = raw.split(/[,\n]/).map(normalize).filter(Boolean)
    if (parts.length) onChange([...new Set([...value, ...parts])].slice(0, max))
    setText('')
    setActive(-1)
    // What lies below can be reached again; typing, an arrow or a click opens the list anew.
    setOpen(false)
  }

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      setOpen(true)
      const step = event.key === 'ArrowDown' ? 1 : -1
      const next = offered.length ? (Math.max(active, step > 0 ? -1 : 0) + step + offered.length) % offered.length : -1
      setActive(next)
      list.current?.children[next]?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter' || (event.key === ',' && text.trim())) {
      const chosen = offered[active]?.value ?? text
      if (!chosen.trim()) return
      event.preventDefault()
      add(chosen)
    } else if (event.key === 'Backspace' && !text && value.length) {
      onChange(value.slice(0, -1))
    } else if (event.key === 'Escape' && open) {
      event.stopPropagation()
      setOpen(false)
    }
  }

  return (
    <div className="relative">
      <div
        className={cn(INPUT_CLASS, 'flex min-h-9 flex-wrap items-center gap-1 px-1.5 py-1 focus-within:border-brand focus-within:outline-2 focus-within:outline-brand/35', invalid && 'border-danger')}
        onPointerDown={(event) => {
          if (event.target !== event.currentTarget) return
          event.preventDefault()
          input.current?.focus()
        }}
      >
        {value.map((one) => (
          <Chip key={one} tone={tone} label={one} onRemove={() => onChange(value.filter((other) => other !== one))}>
            <bdi dir="ltr">{one}</bdi>
          </Chip>
        ))}
        <input
          ref={input}
          id={id}
          role="combobox"
          aria-label={label}
          aria-expanded={open && offered.length > 0}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={active >= 0 ? `${listId}-${active}` : undefined}
          aria-describedby={describedBy}
          aria-invalid={invalid || undefined}
          autoComplete="off"
          value={text}
          placeholder={value.length ? '' : placeholder}
          className="h-7 min-w-24 flex-1 bg-transparent px-1.5 outline-none placeholder:text-muted/80"
          onChange={(event) => {
            setText(event.target.value)
            setOpen(true)
            setActive(-1)
          }}
          onFocus={() => setOpen(true)}
          onClick={() => setOpen(true)}
          onBlur={() => {
            setOpen(false)
            if (text.trim()) add(text)
          }}
          onKeyDown={onKeyDown}
          onPaste={(event) => {
            const pasted = event.clipboardData.getData('text')
            if (!/[,\n]/.test(pasted)) return
            event.preventDefault()
            add(text + pasted)
          }}
        />
      </div>
      <ul ref={list} id={listId} role="listbox" aria-label={t('tags.suggestions')} hidden={!open || !offered.length} className="absolute inset-x-0 top-full z-30 mt-1 max-h-64 overflow-y-auto rounded-xl border bg-raised p-1 shadow-float">
        {offered.map((one, index) => (
          // The keyboard reaches the options through the input, as a combobox wants it.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <li
            key={one.value}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === active}
            className={cn('flex cursor-pointer items-center justify-between gap-3 rounded-lg px-2.5 py-1.5 text-sm', index === active && 'bg-sunken')}
            onPointerEnter={() => setActive(index)}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => add(one.value)}
          >
            <bdi dir="ltr" className="truncate">{one.value}</bdi>
            <span className="text-xs text-muted tabular-nums">{one.count}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
