import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { seriousFaults } from './axe'
import { openPage, settled } from './browser'
import { repository } from './server'
import { browser, server, withCorpus, withServer } from './setup'

const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true }
const PAGES = ['/documents', '/ask', '/graph', '/settings', '/api']

withServer()
withCorpus('archive')

it('finds a fault where there is one', async () => {
  const { page } = await openPage(browser, server.root)
  await page.setContent('<html lang="en"><title>x</title><main><button></button></main></html>')
  expect((await seriousFaults(page)).join()).toContain('button-name')
  await page.context().close()
})

const DARK = { 'lightrag.theme': 'dark' }
const ARABIC = { 'lightrag.language': 'ar' }

describe.each([
  ['light', {}],
  ['dark', { storage: DARK }],
  ['Arabic', { storage: ARABIC }],
  ['Arabic and dark', { storage: { ...DARK, ...ARABIC } }],
  ['light on a phone', PHONE],
  ['dark on a phone', { ...PHONE, storage: DARK }],
  ['Arabic on a phone', { ...PHONE, storage: ARABIC }],
] as const)('in %s', (_name, options) => {
  it('no page has a serious fault or is wider than the screen', async () => {
    const { page, faults } = await openPage(browser, server.root, options)
    for (const path of PAGES) {
      await page.goto(server.page(path))
      await settled(page)
      expect(await seriousFaults(page), path).toEqual([])
      expect(await widthBeyondScreen(page), path).toBe(0)
    }
    expect(faults).toEqual([])
    await page.context().close()
  })
})

const widthBeyondScreen = (page: Page) => page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - window.innerWidth))

it('the longest words fit a phone too', async () => {
  for (const language of ['de', 'fr', 'nl', 'es']) {
    const { page } = await openPage(browser, server.root, { ...PHONE, storage: { 'lightrag.language': language } })
    for (const path of PAGES) {
      await page.goto(server.page(path))
      await settled(page)
      expect(await widthBeyondScreen(page), `${path} in ${language}`).toBe(0)
    }
    await page.context().close()
  }
})

it('reads from right to left where the language does', async () => {
  const { page } = await openPage(browser, server.root, { storage: ARABIC })
  await page.goto(server.page('/documents'))
  await settled(page)
  expect(await page.evaluate(() => [document.documentElement.dir, document.documentElement.lang])).toEqual(['rtl', 'ar'])
  const heading = await page.getByRole('heading', { level: 1 }).boundingBox()
  expect(heading?.x).toBeGreaterThan(680)
  await page.context().close()
})

it.each([['light', {}], ['dark', DARK]] as const)('no dialog has a serious fault, %s', async (_name, storage) => {
  const { page, faults } = await openPage(browser, server.root, { storage })
  await page.goto(server.page('/documents'))
  await settled(page)
  const menu = async (name: string | RegExp, item: string | RegExp) => {
    await page.getByRole('button', { name }).first().click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  const dialogs: Array<[string, () => Promise<unknown>]> = [
    ['upload', () => page.getByRole('button', { name: 'Upload' }).first().click()],
    ['filters', () => page.getByRole('button', { name: 'Filters' }).click()],
    ['details', () => page.locator('[role=row][data-index] button').nth(1).click()],
    ['metadata', () => menu(/^Actions for/, 'Edit metadata')],
    ['delete', () => menu(/^Actions for/, 'Delete')],
    ['log', () => menu('More', 'Log')],
    ['clear', () => menu('More', /Delete everything/)],
  ]
  for (const [name, open] of dialogs) {
    await open()
    await page.getByRole('dialog').waitFor()
    await settled(page)
    expect(await seriousFaults(page), name).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  expect(faults).toEqual([])
  await page.context().close()
})

/** Opens a page in a browser that has seen nothing of it yet. */
async function measureLoad(path: string, ready: (page: Page) => Locator) {
  const { page } = await openPage(browser, server.root)
  await page.addInitScript(() => {
    const measured = { shift: 0, blocked: 0 }
    Object.assign(window, { measured })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) measured.shift += (entry as PerformanceEntry & { value: number }).value
    }).observe({ type: 'layout-shift', buffered: true })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) measured.blocked += Math.max(0, entry.duration - 50)
    }).observe({ type: 'longtask', buffered: true })
  })
  const start = Date.now()
  await page.goto(server.page(path))
  await ready(page).waitFor()
  // Answering a click is what makes a page usable, not being drawn.
  await ready(page).click({ trial: true })
  const usable = Date.now() - start
  await settled(page)
  const measured = await page.evaluate(() => {
    const scripts = (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).filter((one) => one.name.endsWith('.js'))
    return { ...(window as unknown as { measured: { shift: number; blocked: number } }).measured, scripts: scripts.map((one) => one.name), bytes: scripts.reduce((sum, one) => sum + one.encodedBodySize, 0) }
  })
  await page.context().close()
  return { usable, ...measured }
}

it.each([
  ['/documents', (page: Page) => page.getByRole('button', { name: 'Upload' }).first()],
  ['/ask', (page: Page) => page.getByRole('textbox', { name: 'Ask a question' })],
  ['/settings', (page: Page) => page.getByRole('combobox', { name: 'Language' })],
] as const)('%s is usable within 1.5 s, does not jump and is small', async (path, ready) => {
  const loads = []
  // Others use this machine too: the quickest of a few loads is what the page itself needs.
  for (let turn = 0; turn < 4 && (turn < 2 || Math.min(...loads.map((one) => one.usable)) >= 1500); turn += 1) loads.push(await measureLoad(path, ready))
  for (const { usable, blocked, shift, bytes } of loads) console.log(`${path}: usable after ${usable} ms, blocked for ${Math.round(blocked)} ms, layout shift ${shift.toFixed(4)}, ${(bytes / 1000).toFixed(1)} kB of scripts`)
  expect(Math.min(...loads.map((one) => one.usable))).toBeLessThan(1500)
  expect(Math.max(...loads.map((one) => one.shift))).toBeLessThan(0.01)
  // As they come over the wire, compressed.
  for (const { bytes } of loads) {
    expect(bytes).toBeGreaterThan(100_000)
    expect(bytes).toBeLessThan(250_000)
  }
  // What draws graphs comes with the graph, not before.
  expect(loads.flatMap((one) => one.scripts).filter((url) => /GraphViewer|graph-canvas|sigma/i.test(url))).toEqual([])
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
  const pages = ['documents/DocumentManager', 'query/ask-page', 'settings/settings-page', 'settings/api-page'].map((name) => `src/features/${name}.tsx`)
  const size = (names: Iterable<string>) => [...names].reduce((sum, name) => sum + statSync(join(built, `${manifest[name]?.file}.gz`)).size, 0)
  const start = () => reach('index.html', new Set())
  for (const first of pages) {
    expect(manifest[first], first).toBeDefined()
    const bytes = size(reach(first, start()))
    console.log(`${first}: ${(bytes / 1000).toFixed(1)} kB of compressed scripts`)
    expect(bytes, first).toBeLessThan(250_000)
  }
})

it('is usable with the keyboard alone', async () => {
  const { page } = await openPage(browser, server.root)
  await page.goto(server.page('/documents'))
  await settled(page)
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
