/** How nodes, edges and names look: as they are, near what is chosen, and where a scope does not know them. */

import type { NodeHoverDrawingFunction, NodeLabelDrawingFunction } from 'sigma/rendering'
import { edgeKey, type DrawnGraph, type EdgeAttributes, type NodeAttributes } from './graph-data'
import { placeLabels, type LabelWish } from './labels'

export type Selection = { type: 'node'; name: string } | { type: 'edge'; source: string; target: string } | null

export const COLORS = {
  light: { edge: '#c3ced4', faded: '#e4e9ec', text: '#22343b', halo: '#f6fafbf0', strong: '#0f6d74', unknown: '#d0a343', unknownEdge: '#e7cf97' },
  dark: { edge: '#3b4a52', faded: '#26323a', text: '#e4ecef', halo: '#10191ff0', strong: '#5fd0d6', unknown: '#b08a3c', unknownEdge: '#594c28' },
}
export type Colors = (typeof COLORS)['light']

export interface Looked {
  selection: Selection
  hiddenKinds: ReadonlySet<string>
  hovered: string
}

export interface Unknown {
  hidden: ReadonlySet<string>
  hiddenEdges: ReadonlySet<string>
}

function centreOf(looked: Looked): string {
  return looked.hovered || (looked.selection?.type === 'node' ? looked.selection.name : '')
}

export function reduceNode(graph: DrawnGraph, name: string, data: NodeAttributes, looked: Looked, unknown: Unknown, colors: Colors) {
  if (looked.hiddenKinds.has(data.kind)) return { ...data, hidden: true }
  const centre = centreOf(looked)
  const ends = looked.selection?.type === 'edge' && !looked.hovered ? [looked.selection.source, looked.selection.target] : []
  const base = unknown.hidden.has(name) ? { ...data, color: colors.unknown, size: data.size * 0.75 } : data
  if (name === centre || ends.includes(name)) return { ...base, highlighted: true, forceLabel: true, zIndex: 2 }
  if ((centre && graph.hasNode(centre) && !graph.areNeighbors(centre, name)) || ends.length) return { ...base, color: colors.faded, label: '', zIndex: 0 }
  return { ...base, zIndex: 1, ...(centre ? { forceLabel: graph.degree(centre) < 40 } : {}) }
}

export function reduceEdge(graph: DrawnGraph, edge: string, data: EdgeAttributes, looked: Looked, unknown: Unknown, colors: Colors) {
  const [source, target] = graph.extremities(edge)
  const centre = centreOf(looked)
  const chosen = looked.selection?.type === 'edge' && edgeKey(looked.selection) === edgeKey({ source, target })
  if (chosen) return { ...data, color: colors.strong, size: data.size + 2, zIndex: 2 }
  if (looked.selection?.type === 'edge' && !looked.hovered) return { ...data, color: colors.faded, zIndex: 0 }
  if (centre) return source === centre || target === centre ? { ...data, color: colors.strong, zIndex: 1 } : { ...data, color: colors.faded, zIndex: 0 }
  return unknown.hiddenEdges.size && unknown.hiddenEdges.has(edgeKey({ source, target })) ? { ...data, color: colors.unknownEdge } : data
}

const FONT = "'Inter Variable', system-ui, sans-serif"
const fontOf = (size: number) => `500 ${Math.max(11, Math.min(16, 9 + size * 0.35))}px ${FONT}`
const heightOf = (size: number) => Math.max(11, Math.min(16, 9 + size * 0.35)) * 1.3

/** Collects the names that sigma wants to show, and paints them together when the picture is done. */
export function makeLabels(colors: Colors) {
  let wishes: Array<LabelWish & { font: string }> = []
  let canvas: CanvasRenderingContext2D | null = null
  const collect: NodeLabelDrawingFunction<NodeAttributes, EdgeAttributes> = (context, data) => {
    const { forceLabel, highlighted } = data as { forceLabel?: boolean; highlighted?: boolean }
    // The name of one that stands out has its own ground, see below.
    if (!data.label || highlighted) return
    canvas = context
    const font = fontOf(data.size)
    context.font = font
    wishes.push({ text: data.label, x: data.x, y: data.y, radius: data.size, width: context.measureText(data.label).width, height: heightOf(data.size), forced: forceLabel === true, font })
  }
  const paint = () => {
    const context = canvas
    if (!context) return
    const fonts = new Map(wishes.map((one) => [one.text, one.font]))
    // Places are those of left ends, also where the page runs from right to left.
    context.textAlign = 'left'
    context.lineWidth = 3
    context.lineJoin = 'round'
    context.strokeStyle = colors.halo
    context.fillStyle = colors.text
    for (const { text, left, base } of placeLabels(wishes, context.canvas.clientWidth)) {
      context.font = fonts.get(text) ?? fontOf(4)
      context.strokeText(text, left, base)
      context.fillText(text, left, base)
    }
  }
  const begin = () => {
    wishes = []
    canvas = null
  }
  return { begin, collect, paint }
}

/** The name of the node under the pointer, on a ground of its own above everything else. */
export function makeHover(colors: Colors): NodeHoverDrawingFunction<NodeAttributes, EdgeAttributes> {
  return (context, data) => {
    context.beginPath()
    context.arc(data.x, data.y, data.size + 3, 0, 2 * Math.PI)
    context.strokeStyle = colors.strong
    context.lineWidth = 2
    context.stroke()
    if (!data.label) return
    context.font = fontOf(data.size)
    const [width, height] = [context.measureText(data.label).width + 12, heightOf(data.size) + 5]
    const right = data.x + data.size + 5
    const left = right + width <= context.canvas.clientWidth ? right : data.x - data.size - 5 - width
    context.fillStyle = colors.halo
    context.strokeStyle = colors.edge
    context.lineWidth = 1
    context.beginPath()
    context.roundRect(left, data.y - height / 2, width, height, 6)
    context.fill()
    context.stroke()
    context.fillStyle = colors.text
    context.textAlign = 'left'
    context.fillText(data.label, left + 6, data.y + height * 0.24)
  }
}
