import type { PresetName } from '@/lib/filters'

/** A document as a line in time; an end that is missing runs out of the picture. */
interface Line {
  from: number
  to: number
  kept: boolean
}

const [LEFT, RIGHT, WIDTH] = [16, 32, 48]

// Where each line lies against the period is what the intent means; three are enough to see it.
const PICTURES: Record<PresetName, { lines: Line[]; undated: boolean | null }> = {
  broad_retrieval: { lines: [{ from: 5, to: 21, kept: true }, { from: 19, to: 29, kept: true }, { from: 36, to: 44, kept: false }], undated: null },
  archive_discovery: { lines: [{ from: 8, to: 24, kept: true }, { from: 36, to: 44, kept: false }], undated: true },
  legislation_in_force: { lines: [{ from: 8, to: WIDTH, kept: true }, { from: 6, to: 42, kept: true }, { from: 20, to: 40, kept: false }], undated: null },
  activity_in_period: { lines: [{ from: 22, to: WIDTH, kept: true }, { from: 8, to: 24, kept: true }, { from: 0, to: 26, kept: false }], undated: null },
  wholly_within_period: { lines: [{ from: 18, to: 24, kept: true }, { from: 22, to: 30, kept: true }, { from: 24, to: 42, kept: false }], undated: null },
  strict_catalog: { lines: [{ from: 10, to: 24, kept: true }, { from: 20, to: WIDTH, kept: false }, { from: 0, to: 22, kept: false }], undated: null },
  uncatalogued_only: { lines: [{ from: 8, to: 24, kept: false }, { from: 28, to: 42, kept: false }], undated: true },
}

/** Documents as lines in time, the period behind them: strong lines are what an intent keeps. A ring is a document without a date. */
export function PresetPicture({ name }: { name: PresetName | null }) {
  const picture = name ? PICTURES[name] : { lines: [], undated: null }
  return (
    <svg viewBox={`0 0 ${WIDTH} 26`} width={WIDTH} height={26} aria-hidden className="shrink-0 overflow-hidden rounded-md bg-sunken">
      {name === 'uncatalogued_only' ? null : <rect x={LEFT} width={RIGHT - LEFT} height={26} className="fill-filter-line/45" />}
      {picture.lines.map(({ from, to, kept }, index) => (
        <g key={`${from}-${to}`} className={kept ? 'stroke-brand' : 'stroke-muted/45'} strokeWidth={2.5} strokeLinecap="round">
          <line x1={from} x2={to} y1={6 + index * 7} y2={6 + index * 7} />
        </g>
      ))}
      {picture.undated ? <circle cx={41} cy={20} r={2.75} className="fill-none stroke-brand" strokeWidth={1.75} /> : null}
    </svg>
  )
}
