import type { NodeLabelDrawingFunction } from 'sigma/rendering'
import { useEffect, useRef } from 'react'
import Sigma from 'sigma'
import { buildGraph, type DrawnGraph, type EdgeAttributes, type NodeAttributes, type Places } from './graph-data'
import { startLayout } from './layout'
import type { ShownGraph } from './useLightragGraph'

export type Selection = { type: 'node'; name: string } | { type: 'edge'; source: string; target: string } | null

export interface CanvasControls {
  zoom: (factor: number) => void
  reset: () => void
  focus: (name: string) => void
  arrange: () => void
}

interface GraphCanvasProps {
  shown: ShownGraph
  dark: boolean
  selection: Selection
  hiddenKinds: ReadonlySet<string>
  label: string
  onSelect: (selection: Selection) => void
  onExpand: (name: string) => void
  onReady: (controls: CanvasControls | null) => void
}

const COLORS = {
  light: { edge: '#c3ced4', faded: '#e9edef', text: '#22343b', halo: '#ffffffd9', strong: '#0f6d74', unknown: '#c9a24a', unknownEdge: '#efdfba' },
  dark: { edge: '#3b4a52', faded: '#26323a', text: '#e4ecef', halo: '#172026d9', strong: '#5fd0d6', unknown: '#b08a3c', unknownEdge: '#4a4028' },
}

/** The drawn graph. React only hands things over here; sigma draws by itself. */
export default function GraphCanvas({ shown, dark, selection, hiddenKinds, label, onSelect, onExpand, onReady }: GraphCanvasProps) {
  const container = useRef<HTMLDivElement>(null)
  const renderer = useRef<Sigma<NodeAttributes, EdgeAttributes> | null>(null)
  const places = useRef<Places>({})
  const state = useRef({ selection, hiddenKinds, hovered: '' })
  const handlers = useRef({ onSelect, onExpand, onReady })

  useEffect(() => {
    handlers.current = { onSelect, onExpand, onReady }
  })

  useEffect(() => {
    state.current = { ...state.current, selection, hiddenKinds }
    renderer.current?.refresh({ skipIndexation: true })
  }, [selection, hiddenKinds])

  useEffect(() => {
    const box = container.current
    if (!box) return
    const known = places.current
    const colors = dark ? COLORS.dark : COLORS.light
    const graph = buildGraph(shown.data, colors.edge, known)
    const sigma = new Sigma<NodeAttributes, EdgeAttributes>(graph, box, {
      ...sigmaSettings(graph, colors),
      nodeReducer: (name, data) => reduceNode(graph, name, data, state.current, shown.hidden, colors),
      edgeReducer: (edge, data) => reduceEdge(graph, edge, data, state.current, shown.hidden, colors),
    })
    renderer.current = sigma
    const stop = startLayout(graph, Object.keys(known).length > 0)
    const hover = (name: string) => {
      state.current.hovered = name
      box.style.cursor = name ? 'pointer' : 'grab'
      sigma.refresh({ skipIndexation: true })
    }
    sigma.on('enterNode', ({ node }) => hover(node))
    sigma.on('leaveNode', () => hover(''))
    sigma.on('clickNode', ({ node }) => handlers.current.onSelect({ type: 'node', name: node }))
    sigma.on('clickEdge', ({ edge }) => handlers.current.onSelect({ type: 'edge', source: graph.source(edge), target: graph.target(edge) }))
    sigma.on('clickStage', () => handlers.current.onSelect(null))
    sigma.on('doubleClickNode', (event) => {
      event.preventSigmaDefault()
      handlers.current.onExpand(event.node)
    })
    handlers.current.onReady({
      zoom: (factor) => void sigma.getCamera().animatedZoom({ factor, duration: 200 }),
      reset: () => void sigma.getCamera().animatedReset({ duration: 300 }),
      focus: (name) => {
        const data = sigma.getNodeDisplayData(name)
        if (data) void sigma.getCamera().animate({ x: data.x, y: data.y, ratio: Math.min(0.4, sigma.getCamera().ratio) }, { duration: 400 })
      },
      arrange: () => startLayout(graph, false),
    })
    return () => {
      stop()
      graph.forEachNode((name, { x, y }) => {
        known[name] = { x, y }
      })
      sigma.kill()
      renderer.current = null
      handlers.current.onReady(null)
    }
  }, [shown, dark])

  return <div ref={container} role="img" aria-label={label} data-testid="graph-canvas" className="absolute inset-0" />
}

type Colors = (typeof COLORS)['light']

function sigmaSettings(graph: DrawnGraph, colors: Colors) {
  const drawLabel: NodeLabelDrawingFunction<NodeAttributes, EdgeAttributes> = (context, data, settings) => {
    if (!data.label) return
    const size = Math.max(11, Math.min(16, 9 + data.size * 0.35))
    context.font = `500 ${size}px ${settings.labelFont}`
    context.lineWidth = 3
    context.lineJoin = 'round'
    context.strokeStyle = colors.halo
    context.fillStyle = colors.text
    context.strokeText(data.label, data.x + data.size + 3, data.y + size / 3)
    context.fillText(data.label, data.x + data.size + 3, data.y + size / 3)
  }
  return {
    allowInvalidContainer: true,
    enableEdgeEvents: graph.size < 8000,
    hideEdgesOnMove: graph.size > 6000,
    hideLabelsOnMove: graph.order > 4000,
    labelDensity: 0.7,
    labelGridCellSize: 90,
    labelRenderedSizeThreshold: graph.order > 1000 ? 9 : 5,
    labelFont: "'Inter Variable', system-ui, sans-serif",
    defaultDrawNodeLabel: drawLabel,
    defaultDrawNodeHover: drawLabel,
    minCameraRatio: 0.02,
    maxCameraRatio: 4,
    stagePadding: 60,
    zIndex: true,
  }
}

interface Looked {
  selection: Selection
  hiddenKinds: ReadonlySet<string>
  hovered: string
}

function centreOf(looked: Looked): string {
  return looked.hovered || (looked.selection?.type === 'node' ? looked.selection.name : '')
}

function reduceNode(graph: DrawnGraph, name: string, data: NodeAttributes, looked: Looked, unknown: ReadonlySet<string>, colors: Colors) {
  if (looked.hiddenKinds.has(data.kind)) return { ...data, hidden: true }
  const centre = centreOf(looked)
  const ends = looked.selection?.type === 'edge' && !looked.hovered ? [looked.selection.source, looked.selection.target] : []
  const base = unknown.has(name) ? { ...data, color: colors.unknown, size: data.size * 0.75 } : data
  if (name === centre || ends.includes(name)) return { ...base, highlighted: true, forceLabel: true, zIndex: 2 }
  if ((centre && graph.hasNode(centre) && !graph.areNeighbors(centre, name)) || ends.length) return { ...base, color: colors.faded, label: '', zIndex: 0 }
  return { ...base, zIndex: 1, ...(centre ? { forceLabel: graph.degree(centre) < 40 } : {}) }
}

function reduceEdge(graph: DrawnGraph, edge: string, data: EdgeAttributes, looked: Looked, unknown: ReadonlySet<string>, colors: Colors) {
  const [source, target] = graph.extremities(edge)
  const centre = centreOf(looked)
  const chosen = looked.selection?.type === 'edge' && looked.selection.source === source && looked.selection.target === target
  if (chosen) return { ...data, color: colors.strong, size: data.size + 2, zIndex: 2 }
  if (centre) return source === centre || target === centre ? { ...data, color: colors.strong, zIndex: 1 } : { ...data, color: colors.faded, zIndex: 0 }
  return unknown.has(source) || unknown.has(target) ? { ...data, color: colors.unknownEdge } : data
}
