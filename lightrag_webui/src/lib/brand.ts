import { like, readStored, useStored, writeStored } from './stored'

/** How whoever runs the server calls it: WEBUI_TITLE and WEBUI_DESCRIPTION. */
export interface Brand {
  title: string
  description: string
}

const NAME = 'lightrag.brand'
const NONE: Brand = { title: '', description: '' }
const asBrand = like(NONE)

/** Keeps the server's name for the next visit, so that the page does not begin with another one. */
export function keepBrand(brand: Brand): void {
  const known = readStored(NAME, NONE, asBrand)
  if (known.title !== brand.title || known.description !== brand.description) writeStored(NAME, brand)
}

export function useBrand(): Brand {
  const [{ title, description }] = useStored(NAME, NONE, asBrand)
  return { title: title || 'LightRAG', description }
}
