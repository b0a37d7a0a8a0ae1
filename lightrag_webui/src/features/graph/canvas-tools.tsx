import { Maximize, Minus, Palette, Plus, Shuffle } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '@/components/ui/button'
import { useWide } from '@/lib/queries'
import type { CanvasControls } from './graph-canvas'
import { GraphLegend } from './graph-legend'
import type { ShownGraph } from './useLightragGraph'

interface CanvasToolsProps {
  controls: CanvasControls | null
  shown: ShownGraph
  hiddenKinds: ReadonlySet<string>
  onToggle: (kind: string) => void
}

/** What lies over the picture: nearer, further, and the legend, which opens on wish where there is little room. */
export function CanvasTools({ controls, shown, hiddenKinds, onToggle }: CanvasToolsProps) {
  const { t } = useTranslation()
  const wide = useWide(768)
  const [opened, setOpened] = useState(false)
  const buttons = [
    { name: t('graphPanel.zoomIn'), icon: Plus, run: () => controls?.zoom(1.5) },
    { name: t('graphPanel.zoomOut'), icon: Minus, run: () => controls?.zoom(1 / 1.5) },
    { name: t('graphPanel.fit'), icon: Maximize, run: () => controls?.reset() },
    { name: t('graphPanel.arrange'), icon: Shuffle, run: () => controls?.arrange() },
  ]
  return (
    <>
      <div className="absolute start-3 top-3 z-10 flex flex-col overflow-hidden rounded-xl border bg-raised shadow-card">
        {buttons.map(({ name, icon: Icon, run }) => (
          <Button key={name} variant="ghost" size="icon-small" className="rounded-none" aria-label={name} title={name} onClick={run}>
            <Icon />
          </Button>
        ))}
      </div>
      <div className="pointer-events-none absolute start-3 bottom-3 z-10 flex flex-col items-start gap-2">
        {wide || opened ? <GraphLegend nodes={shown.data.nodes} hiddenKinds={hiddenKinds} onToggle={onToggle} unknown={shown.hidden.size} unknownEdges={shown.hiddenEdges.size} partly={shown.known?.is_truncated ?? false} /> : null}
        {wide ? null : (
          <Button size="icon" className="pointer-events-auto" aria-label={t('graphPanel.legend')} aria-expanded={opened} onClick={() => setOpened((before) => !before)}>
            <Palette />
          </Button>
        )}
      </div>
    </>
  )
}
