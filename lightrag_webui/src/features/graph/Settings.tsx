import { SlidersHorizontal } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '@/components/ui/button'
import { Field } from '@/components/ui/field'
import { Select } from '@/components/ui/input'
import { Popover } from '@/components/ui/overlay'
import { formatNumber } from '@/lib/format'

export const DEPTHS = [1, 2, 3, 4, 5, 6]
export const SIZES = [100, 250, 500, 1000, 2500, 5000, 10_000]
const LARGEST = 10_000

interface SettingsProps {
  depth: number
  onDepth: (depth: number) => void
  size: number
  onSize: (size: number) => void
  around: boolean
  /** Entities that the server shows at the most. */
  limit: number
}

/** How much of the graph is shown. */
export function Settings({ depth, onDepth, size, onSize, around, limit }: SettingsProps) {
  const { t, i18n } = useTranslation()
  return (
    <Popover
      trigger={
        <Button size="icon" aria-label={t('graphPanel.settings')}>
          <SlidersHorizontal />
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <Field label={t('graphPanel.depth')} hint={around ? undefined : t('graphPanel.depthHint')}>
          {(ids) => (
            <Select {...ids} disabled={!around} value={depth} onChange={(event) => onDepth(Number(event.target.value))}>
              {DEPTHS.map((one) => (
                <option key={one} value={one}>
                  {t('graphPanel.hops', { count: one })}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label={t('graphPanel.size')} hint={limit < LARGEST ? t('graphPanel.sizeLimit', { count: limit, limit: formatNumber(limit, i18n.language) }) : undefined}>
          {(ids) => (
            <Select {...ids} value={size} onChange={(event) => onSize(Number(event.target.value))}>
              {(limit < LARGEST ? [...new Set([...SIZES, limit])].sort((a, b) => a - b) : SIZES).map((one) => (
                <option key={one} value={one} disabled={one > limit}>
                  {formatNumber(one, i18n.language)}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
    </Popover>
  )
}
