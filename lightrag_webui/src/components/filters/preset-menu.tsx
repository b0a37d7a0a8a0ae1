import { Check, ChevronDown } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { useTranslation } from 'react-i18next'
import { INPUT_CLASS } from '@/components/ui/input'
import { cn } from '@/lib/cn'
import { PRESET_NAMES, type PresetName } from '@/lib/filters'
import { PresetPicture } from './preset-picture'

interface PresetMenuProps {
  id: string
  describedBy: string | undefined
  label: string
  /** `null` when the parts stand at no preset. */
  value: PresetName | null
  onChange: (name: PresetName) => void
}

/** What a person wants of dates, each intent with a picture of the documents that it keeps. */
export function PresetMenu({ id, describedBy, label, value, onChange }: PresetMenuProps) {
  const { t } = useTranslation()
  const name = value ? t(`filter.preset.${value}.name`) : t('filter.preset.custom')
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        <button id={id} type="button" aria-label={`${label} ${name}`} aria-describedby={describedBy} className={cn(INPUT_CLASS, 'flex h-11 items-center gap-2.5 ps-2 pe-2.5 text-start')}>
          <PresetPicture name={value} />
          <span className="min-w-0 flex-1 truncate">{name}</span>
          <ChevronDown aria-hidden className="size-4 shrink-0 text-muted" />
        </button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="start" sideOffset={4} collisionPadding={8} className="z-50 max-h-(--radix-dropdown-menu-content-available-height) w-(--radix-dropdown-menu-trigger-width) min-w-72 overflow-y-auto rounded-xl border bg-raised p-1 shadow-float outline-none">
          <DropdownMenu.RadioGroup value={value ?? ''} onValueChange={(next) => onChange(next as PresetName)}>
            {PRESET_NAMES.map((one) => (
              <DropdownMenu.RadioItem key={one} value={one} className="flex cursor-pointer items-center gap-3 rounded-lg py-2 ps-2 pe-2.5 outline-none select-none data-highlighted:bg-sunken">
                <PresetPicture name={one} />
                <span className="min-w-0 flex-1">
                  <span className="block text-sm font-medium">{t(`filter.preset.${one}.name`)}</span>
                  <span className="block text-xs leading-snug text-muted">{t(`filter.preset.${one}.hint`)}</span>
                </span>
                <span className="size-4 shrink-0">
                  <DropdownMenu.ItemIndicator>
                    <Check className="size-4 text-brand-ink" aria-hidden />
                  </DropdownMenu.ItemIndicator>
                </span>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
