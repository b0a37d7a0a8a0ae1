/** Where in the passages of a source an answer took something from. */

export interface Place {
  passage: number
  /** Offsets in the text of that passage. */
  start: number
  end: number
}

const ENOUGH = 0.34

/** The words of a text; also of languages that write no blanks between them. */
function wordsOf(text: string): Set<string> {
  const words = new Set<string>()
  for (const { segment, isWordLike } of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text.toLowerCase())) {
    if (isWordLike && (segment.length > 2 || /[^\p{Script=Latin}]/u.test(segment))) words.add(segment)
  }
  return words
}

/** Cuts a text into sentences with their places. No sentence goes over the end of a line that ends a paragraph or an item. */
export function sentencesOf(text: string): Array<{ start: number; end: number }> {
  const sentences: Array<{ start: number; end: number }> = []
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' })
  for (const block of text.matchAll(/(?:[^\n]|\n(?!\s*\n|\s*[-*#|>+]|\s*\d+\.))+/g)) {
    for (const { segment, index } of segmenter.segment(block[0])) {
      // Signs of Markdown before the first letter are not part of what is said.
      const lead = /^[\s*_#>|+~-]*/.exec(segment)?.[0].length ?? 0
      const length = segment.slice(lead).trimEnd().length
      if (length) sentences.push({ start: block.index + index + lead, end: block.index + index + lead + length })
    }
  }
  return sentences
}

/**
 * Finds the sentence that is most like a statement; `null` when none is much like it.
 *
 * Words that many sentences have say less, so each counts by how rare it is among them.
 */
export function findPlace(statement: string, passages: readonly string[]): Place | null {
  const wanted = wordsOf(statement)
  if (!wanted.size) return null
  const sentences = passages.flatMap((text, passage) => sentencesOf(text).map(({ start, end }) => ({ passage, start, end, words: wordsOf(text.slice(start, end)) })))
  const counts = new Map<string, number>()
  for (const { words } of sentences) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const weight = (word: string) => Math.log(1 + sentences.length / (counts.get(word) ?? 1))
  const sum = (words: Iterable<string>) => [...words].reduce((total, word) => total + weight(word), 0)
  let best: Place | null = null
  let most = 0
  for (const { words, ...place } of sentences) {
    const shared = sum([...words].filter((word) => wanted.has(word)))
    // As large as what both have in common is against the smaller of the two, a little less for sentences that say hardly anything.
    const score = (shared / Math.max(1e-9, Math.min(sum(words), sum(wanted)))) * Math.min(1, words.size / 4)
    if (score > most || (score === most && best && place.end - place.start > best.end - best.start)) {
      most = score
      best = place
    }
  }
  return most >= ENOUGH ? best : null
}
