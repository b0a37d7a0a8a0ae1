/** Turns `[3]` in the text of an answer into a link to its third reference, with the statement that it stands for. */

interface Node {
  type: string
  value?: string
  url?: string
  title?: string
  children?: Node[]
}

const PATTERN = /\[(\d{1,4})\]/g
const LONGEST = 400

/** The last sentence of a text that leads up to a citation; a remnant such as a quotation mark takes the one before along. */
export function statementBefore(text: string): string {
  const plain = text.replace(PATTERN, ' ').replace(/\s+/g, ' ').trim()
  const sentences = [...new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(plain)].map(({ segment }) => segment)
  let statement = ''
  while (sentences.length && statement.trim().length < 25) statement = (sentences.pop() ?? '') + statement
  return statement.trim().slice(-LONGEST)
}

/** The statements of an answer for which a reference is named. */
export function statementsOf(answer: string, id: string): string[] {
  return answer.split('\n').flatMap((line) => [...line.matchAll(PATTERN)].filter((match) => match[1] === id).map((match) => statementBefore(line.slice(0, match.index))))
}

/** Splits a text at the numbers of references that exist; other brackets stay as they are. */
export function splitCitations(text: string, ids: ReadonlySet<string>, before = ''): Node[] {
  const nodes: Node[] = []
  let last = 0
  for (const match of text.matchAll(PATTERN)) {
    const id = match[1] ?? ''
    if (!ids.has(id)) continue
    if (match.index > last) nodes.push({ type: 'text', value: text.slice(last, match.index) })
    nodes.push({ type: 'link', url: `#cite-${id}`, title: statementBefore(before + text.slice(0, match.index)), children: [{ type: 'text', value: id }] })
    last = match.index + match[0].length
  }
  if (last < text.length) nodes.push({ type: 'text', value: text.slice(last) })
  return nodes
}

const textOf = (node: Node): string => node.value ?? (node.children ?? []).map(textOf).join('')

function walk(node: Node, ids: ReadonlySet<string>): void {
  if (!node.children || node.type === 'link') return
  let before = ''
  node.children = node.children.flatMap((child) => {
    const led = before
    before += textOf(child)
    if (child.type === 'text') return splitCitations(child.value ?? '', ids, led)
    walk(child, ids)
    return [child]
  })
}

export function remarkCitations(ids: readonly string[]) {
  const known = new Set(ids)
  return (tree: unknown) => {
    if (known.size) walk(tree as Node, known)
  }
}
