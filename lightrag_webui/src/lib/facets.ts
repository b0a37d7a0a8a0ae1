import type { Facets } from '@/api/lightrag'

/** Whole tags with the number of documents that carry them, the most frequent first. */
export function countedTags(facets: Facets | undefined): Array<{ value: string; count: number }> {
  const counted = Object.entries(facets?.tags ?? {}).flatMap(([facet, values]) =>
    Object.entries(values).map(([value, count]) => ({ value: facet ? `${facet}:${value}` : value, count })),
  )
  return counted.sort((a, b) => b.count - a.count || a.value.localeCompare(b.value))
}

/** How many documents carry a tag. */
export function countOf(facets: Facets | undefined, tag: string): number {
  const colon = tag.indexOf(':')
  const [facet, value] = colon < 0 ? ['', tag] : [tag.slice(0, colon), tag.slice(colon + 1)]
  return facets?.tags[facet]?.[value] ?? 0
}
