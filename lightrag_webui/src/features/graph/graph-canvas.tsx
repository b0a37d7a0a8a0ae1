import { useEffect, useRef, type KeyboardEvent, type RefObject } from 'react'
import Sigma from 'sigma'
import { EdgeLineProgram, NodePointProgram } from 'sigma/rendering'
import { cn } from '@/lib/cn'
import { buildGraph, type DrawnGraph, type EdgeAttributes, type NodeAttributes, type Places } from './graph-data'
import { COLORS, makeHover, makeLabels, reduceEdge, reduceNode, type Selection } from './graph-paint'
import { startLayout } from './layout'
import type { ShownGraph } from './useLightragGraph'

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
  /** Entity that the graph is around. */
  around: string
  /** Where nodes were and around what; kept by the page, so that they stay there when another scope is shown. */
  memory: RefObject<{ label: string; at: Places }>
  className?: string | undefined
  onSelect: (selection: Selection) => void
  onExpand: (name: string) => void
  onReady: (controls: CanvasControls | null) => void
}

/** The drawn graph. React only hands things over here; sigma draws by itself. */
export default function GraphCanvas({ shown, dark, selection, hiddenKinds, label, around, memory, className, onSelect, onExpand, onReady }: GraphCanvasProps) {
  const container = useRef<HTMLDivElement>(null)
  const renderer = useRef<Sigma<NodeAttributes, EdgeAttributes> | null>(null)
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
    const colors = dark ? COLORS.dark : COLORS.light
    const { label: before, at: places } = memory.current
    const graph = buildGraph(shown.data, colors.edge, places)
    const found = graph.filterNodes((name) => name in places).length
    const labels = makeLabels(colors)
    const sigma = new Sigma<NodeAttributes, EdgeAttributes>(graph, box, {
      ...sigmaSettings(graph, box.clientWidth),
      defaultDrawNodeLabel: labels.collect,
      defaultDrawNodeHover: makeHover(colors),
      nodeReducer: (name, data) => reduceNode(graph, name, data, state.current, shown, colors),
      edgeReducer: (edge, data) => reduceEdge(graph, edge, data, state.current, shown, colors),
    })
    renderer.current = sigma
    sigma.on('beforeRender', labels.begin)
    sigma.on('afterRender', labels.paint)
    // The first picture was made before anybody listened.
    sigma.refresh()
    const resized = new ResizeObserver(() => sigma.resize().refresh({ skipIndexation: true }))
    resized.observe(box)
    box.dataset['layout'] = 'running'
    const upright = () => box.clientHeight > box.clientWidth
    const done = () => {
      box.dataset['layout'] = 'done'
    }
    let stop = () => undefined as void
    // The same surroundings as another scope knows them, or in other colours: everything stays where one has seen it.
    if (before === around && found === graph.order && found > 1) done()
    else stop = startLayout(graph, { known: found > graph.order / 2, upright: upright() }, done)
    const hover = (name: string) => {
      box.style.cursor = name ? 'pointer' : 'grab'
      // To dim thousands of others takes longer than a pointer stays; sigma shows the name by itself.
      if (graph.order > MANY) return
      state.current.hovered = name
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
      arrange: () => {
        stop()
        stop = startLayout(graph, { known: false, upright: upright() })
      },
    })
    return () => {
      stop()
      resized.disconnect()
      const at = { ...places }
      graph.forEachNode((name, { x, y }) => {
        at[name] = { x, y }
      })
      memory.current = { label: around, at }
      sigma.kill()
      renderer.current = null
      handlers.current.onReady(null)
    }
  }, [shown, dark, around, memory])

  const move = (event: KeyboardEvent) => {
    const camera = renderer.current?.getCamera()
    const step = STEPS[event.key]
    if (!camera || event.target !== event.currentTarget) return
    if (step) void camera.animate({ x: camera.x + step[0] * camera.ratio, y: camera.y + step[1] * camera.ratio }, { duration: 120 })
    else if (event.key === '+' || event.key === '=') void camera.animatedZoom({ factor: 1.5, duration: 150 })
    else if (event.key === '-') void camera.animatedUnzoom({ factor: 1.5, duration: 150 })
    else if (event.key === '0') void camera.animatedReset({ duration: 200 })
    else return
    event.preventDefault()
  }

  // The arrows move the picture; what is in it can be reached through the search and the panels.
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
  return <div ref={container} role="application" tabIndex={0} aria-label={label} data-testid="graph-canvas" className={cn('absolute inset-0 -outline-offset-2', className)} onKeyDown={move} />
}

const STEPS: Record<string, readonly [number, number]> = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }

/** Relations up to which each is as thick as its weight. */
const FINE = 600
/** Entities from which on the pointer dims no others. */
const MANY = 2000

function sigmaSettings(graph: DrawnGraph, width: number) {
  return {
    allowInvalidContainer: true,
    enableEdgeEvents: graph.size < 8000,
    hideEdgesOnMove: graph.size > 6000,
    hideLabelsOnMove: graph.order > 4000,
    labelDensity: 1.3,
    labelGridCellSize: 90,
    labelRenderedSizeThreshold: graph.order > 1000 ? 4.5 : 4,
    labelFont: "'Inter Variable', system-ui, sans-serif",
    minCameraRatio: 0.02,
    maxCameraRatio: 4,
    stagePadding: width < 600 ? 30 : 60,
    zIndex: true,
    // Points and lines are drawn several times as fast as discs and bars, above all without a graphics card. Points look the same;
    // lines do not grow with the weight of a relation, which nobody can see among hundreds.
    nodeProgramClasses: { circle: NodePointProgram },
    ...(graph.size > FINE ? { edgeProgramClasses: { line: EdgeLineProgram } } : {}),
  }
}
