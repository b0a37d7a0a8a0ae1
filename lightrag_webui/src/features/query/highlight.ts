/** Marks a part of a text in what Markdown made of it. */

interface Node {
  type: string
  tagName?: string
  value?: string
  position?: { start: { offset?: number }; end: { offset?: number } }
  properties?: Record<string, unknown>
  children?: Node[]
}

export interface Span {
  start: number
  end: number
}

const marked = (value: string): Node => ({ type: 'element', tagName: 'mark', properties: {}, children: [{ type: 'text', value }] })

/** Cuts a text node where the span begins and ends. One whose letters differ from the source, as with `&amp;`, is marked as a whole. */
function cut(node: Node, span: Span): Node[] {
  const [from, to] = [node.position?.start.offset, node.position?.end.offset]
  const value = node.value ?? ''
  if (from === undefined || to === undefined || to <= span.start || from >= span.end || !value.trim()) return [node]
  if (to - from !== value.length) return [marked(value)]
  const [start, end] = [Math.max(0, span.start - from), Math.min(value.length, span.end - from)]
  return [{ type: 'text', value: value.slice(0, start) }, marked(value.slice(start, end)), { type: 'text', value: value.slice(end) }].filter((one) => one.value !== '')
}

function walk(node: Node, span: Span): void {
  node.children = node.children?.flatMap((child) => {
    if (child.type === 'text') return cut(child, span)
    walk(child, span)
    return [child]
  })
}

/** Puts `mark` elements around what lies between two offsets of the source. */
export function rehypeMark(span: Span | null) {
  return (tree: unknown) => {
    if (span) walk(tree as Node, span)
  }
}
