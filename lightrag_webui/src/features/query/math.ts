/** Formulas as models write them, in the form that the Markdown reader knows; prices stay prices. */

const CODE = /(^|\n)(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:\n\2[^\n]*(?=\n|$)|$)|(`+)(?!`)[\s\S]*?[^`]\3(?!`)/g

/** A dollar opens a formula when something follows at once, and closes it when something stands before it and no digit after. */
function escapePrices(text: string): string {
  return text.replace(/\\\$|\$\$[\s\S]*?\$\$|\$(?!\s)((?:[^$\n\\]|\\[^\n])+?)(?<!\s)\$(?!\d)|\$/g, (found) => (found === '$' ? '\\$' : found))
}

function plain(text: string): string {
  const dollars = text
    .replace(/\\\[([\s\S]+?)\\\]/g, (_all, inner: string) => `\n$$\n${inner.trim()}\n$$\n`)
    .replace(/\\\(([\s\S]+?)\\\)/g, (_all, inner: string) => `$${inner.trim()}$`)
  return escapePrices(dollars)
}

/** Turns `\(…\)` and `\[…\]` into formulas between dollars and escapes dollars that mean money. Code stays as it is. */
export function prepareMath(text: string): string {
  let out = ''
  let last = 0
  for (const match of text.matchAll(CODE)) {
    out += plain(text.slice(last, match.index)) + match[0]
    last = match.index + match[0].length
  }
  return out + plain(text.slice(last))
}

const [OPEN, CLOSE] = ['\uE000', '\uE001']

/** The same for a text of which a part is to be marked: returns where that part is afterwards. */
export function prepareMarked(text: string, span: { start: number; end: number }): { text: string; span: { start: number; end: number } } {
  const signed = prepareMath(`${text.slice(0, span.start)}${OPEN}${text.slice(span.start, span.end)}${CLOSE}${text.slice(span.end)}`)
  const [start, end] = [signed.indexOf(OPEN), signed.indexOf(CLOSE) - 1]
  return { text: signed.replace(OPEN, '').replace(CLOSE, ''), span: { start, end } }
}
