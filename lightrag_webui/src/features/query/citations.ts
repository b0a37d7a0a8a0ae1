/** Turns `[3]` in the text of an answer into a link to its third reference. */

interface Node {
  type: string
  value?: string
  url?: string
  children?: Node[]
}

const PATTERN = /\[(\d{1,4})\]/g

/** Splits a text at the numbers of references that exist; other brackets stay as they are. */
export function splitCitations(text: string, ids: ReadonlySet<string>): Node[] {
  const nodes: Node[] = []
  let last = 0
  for (const match of text.matchAll(PATTERN)) {
    const id = match[1] ?? ''
    if (!ids.has(id)) continue
    if (match.index > last) nodes.push({ type: 'text', value: text.slice(last, match.index) })
    nodes.push({ type: 'link', url: `#cite-${id}`, children: [{ type: 'text', value: id }] })
    last = match.index + match[0].length
  }
  if (last < text.length) nodes.push({ type: 'text', value: text.slice(last) })
  return nodes
}

function walk(node: Node, ids: ReadonlySet<string>): void {
  if (!node.children || node.type === 'link') return
  node.children = node.children.flatMap((child) => {
    if (child.type === 'text') return splitCitations(child.value ?? '', ids)
    walk(child, ids)
    return [child]
  })
}

export function remarkCitations(ids: readonly string[]) {
  const known = new Set(ids)
  return (tree: unknown) => walk(tree as Node, known)
}
