import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const AXE = readFileSync(join(import.meta.dirname, '../node_modules/axe-core/axe.min.js'), 'utf8')

interface Axe {
  run: (context: Document, options: object) => Promise<{ violations: Array<{ id: string; impact: string | null; nodes: Array<{ html: string }> }> }>
}

/** Serious faults that axe finds in the page, with the element of each. Embedded pages are not ours to judge. */
export async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: Axe }
    const { violations } = await axe.run(document, { resultTypes: ['violations'], iframes: false })
    return violations.filter((one) => one.impact === 'serious' || one.impact === 'critical').flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)}`))
  })
}
