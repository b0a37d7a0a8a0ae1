import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch, openPage } from './browser'
import { readCorpus, repository, startServer, type Server } from './server'

const AXE = readFileSync(join(import.meta.dirname, '../node_modules/axe-core/axe.min.js'), 'utf8')
const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true }
const PAGES = ['/documents', '/ask', '/graph', '/settings']

let server: Server
let browser: Browser

beforeAll(async () => {
  server = await startServer()
  await readCorpus(server.root, 'archive')
  browser = await launch()
})

afterAll(async () => {
  await browser?.close()
  await server?.stop()
})

interface Axe {
  run: (context: Document, options: object) => Promise<{ violations: Array<{ id: string; impact: string | null; nodes: Array<{ html: string }> }> }>
}

/** Serious faults that axe finds, with the element of each. */
async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: Axe }
    const { violations } = await axe.run(document, { resultTypes: ['violations'] })
    return violations.filter((one) => one.impact === 'serious' || one.impact === 'critical').flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)}`))
  })
}

const settle = (page: Page) => page.waitForLoadState('networkidle').then(() => page.waitForTimeout(300))

it('finds a fault where there is one', async () => {
  const { page } = await openPage(browser, server.root)
  await page.setContent('<html lang="en"><title>x</title><main><button></button></main></html>')
  expect((await seriousFaults(page)).join()).toContain('button-name')
  await page.context().close()
})

describe.each([
  ['light', {}],
  ['dark', { 'lightrag.theme': 'dark' }],
  ['Arabic', { 'lightrag.language': 'ar' }],
] as const)('in %s', (_name, storage) => {
  it.each(PAGES)('%s has no serious fault', async (path) => {
    const { page, faults } = await openPage(browser, server.root, { storage })
    await page.goto(server.page(path))
    await settle(page)
    expect(await seriousFaults(page)).toEqual([])
    expect(faults).toEqual([])
    await page.context().close()
  })
})

it('dialogs have no serious fault', async () => {
  const { page } = await openPage(browser, server.root)
  await page.goto(server.page('/documents'))
  await page.getByRole('button', { name: 'Upload' }).click()
  await settle(page)
  expect(await seriousFaults(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Filters' }).click()
  await settle(page)
  expect(await seriousFaults(page)).toEqual([])
  await page.context().close()
})

it.each(PAGES)('%s fits a phone, in both directions', async (path) => {
  for (const language of ['en', 'ar', 'de']) {
    const { page } = await openPage(browser, server.root, { ...PHONE, storage: { 'lightrag.language': language } })
    await page.goto(server.page(path))
    await settle(page)
    const [wanted, has] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth])
    expect(wanted, `${path} in ${language}`).toBeLessThanOrEqual(has ?? 0)
    expect(await page.evaluate(() => document.documentElement.dir)).toBe(language === 'ar' ? 'rtl' : 'ltr')
    await page.context().close()
  }
})

it.each(['/documents', '/ask'])('%s is there quickly and does not jump', async (path) => {
  const { page } = await openPage(browser, server.root)
  await page.addInitScript(() => {
    const shifts: number[] = []
    Object.assign(window, { shifts })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push((entry as PerformanceEntry & { value: number }).value)
    }).observe({ type: 'layout-shift', buffered: true })
  })
  const start = Date.now()
  await page.goto(server.page(path))
  await page.getByRole(path === '/ask' ? 'textbox' : 'button', { name: path === '/ask' ? 'Ask a question' : 'Upload' }).first().waitFor()
  const milliseconds = Date.now() - start
  await settle(page)
  const shift = await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts.reduce((sum, one) => sum + one, 0))
  // Two shared cores run server, browser and test at once; a quiet one is well below the goal of 1.5 s.
  console.log(`${path}: usable after ${milliseconds} ms, layout shift ${shift.toFixed(4)}`)
  expect(milliseconds).toBeLessThan(3000)
  expect(shift).toBeLessThan(0.05)
  await page.context().close()
})

it('loads less than 250 kB of compressed scripts before the graph', () => {
  const built = join(repository, 'lightrag/api/webui')
  const manifest = JSON.parse(readFileSync(join(built, '.vite/manifest.json'), 'utf8')) as Record<string, { file: string; imports?: string[] }>
  const reach = (name: string, seen: Set<string>): Set<string> => {
    if (seen.has(name)) return seen
    seen.add(name)
    for (const next of manifest[name]?.imports ?? []) reach(next, seen)
    return seen
  }
  for (const first of ['src/features/documents/DocumentManager.tsx', 'src/features/query/ask-page.tsx']) {
    const files = reach(first, reach('index.html', new Set(['src/locales/en.json'])))
    const bytes = [...files].reduce((sum, name) => sum + statSync(join(built, `${manifest[name]?.file}.gz`)).size, 0)
    expect(bytes, first).toBeLessThan(250_000)
  }
})

it('is usable with the keyboard alone', async () => {
  const { page } = await openPage(browser, server.root)
  await page.goto(server.page('/documents'))
  await settle(page)
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content')
  await page.keyboard.press('Enter')
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
  await page.getByRole('button', { name: 'Filters' }).focus()
  await page.keyboard.press('Enter')
  const tags = page.getByRole('dialog').getByRole('combobox', { name: 'Must have' })
  await tags.focus()
  await page.keyboard.type('act')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/tag=type%3Aact/)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await page.context().close()
})
