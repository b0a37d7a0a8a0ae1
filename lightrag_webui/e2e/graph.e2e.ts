import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { seriousFaults } from './axe'
import { launch, openPage } from './browser'
import { readCorpus, startServer, type Server } from './server'

let server: Server
let browser: Browser
let page: Page
let faults: string[]

beforeAll(async () => {
  server = await startServer()
  await readCorpus(server.root)
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  await server?.stop()
})
beforeEach(async (test) => {
  ;({ page, faults } = await openPage(browser, server.root))
  test.onTestFinished(async () => {
    expect(faults).toEqual([])
    await page.context().close()
  })
})

const status = () => page.getByTestId('graph-status')
const count = async () => Number.parseInt((await status().innerText()).trim() || '-1', 10)
const go = async (path: string) => {
  await page.goto(server.page(path))
  await status().getByText(/entities/).waitFor()
}
const search = () => page.getByRole('combobox', { name: 'Find an entity' })
const options = () => page.getByRole('listbox', { name: 'Find an entity' }).getByRole('option')
const find = async (text: string, name: string) => {
  await search().fill(text)
  await options().getByText(name, { exact: true }).click()
  await panel().getByRole('heading', { name, exact: true, level: 2 }).waitFor()
}
const panel = () => page.getByTestId('object-panel')

it('finds an entity, goes around it, and shows by which documents it and its relations are known', async () => {
  await go('/graph')
  const whole = await count()
  await page.getByRole('list', { name: 'Kinds of entities' }).getByRole('button', { name: /^Person/ }).click()
  expect(await page.getByRole('list', { name: 'Kinds of entities' }).getByRole('button', { name: /^Person/ }).getAttribute('aria-pressed')).toBe('false')
  await find('hallowgate br', 'Hallowgate Bridge')
  await page.waitForURL(/label=Hallowgate/)
  await expect.poll(count).toBeLessThan(whole)
  const evidence = panel().getByTestId('evidence').getByRole('link')
  await evidence.first().waitFor()
  await panel().getByTitle('type:act').first().waitFor()
  await panel().getByRole('button', { name: /^Ottoline Brandreth/ }).click()
  await panel().getByText('Relation', { exact: true }).waitFor()
  await panel().getByTestId('evidence').getByRole('link').first().waitFor()
  expect(await seriousFaults(page)).toEqual([])
  await panel().getByRole('heading').getByRole('button', { name: 'Hallowgate Bridge' }).click()
  await page.getByRole('button', { name: 'View', exact: true }).click()
  const size = page.getByLabel('Entities at most')
  await page.getByText('This server shows 1,000 entities at most; MAX_GRAPH_NODES raises that.').waitFor()
  expect(await size.locator('option[value="10000"]').isDisabled()).toBe(true)
  const two = await count()
  await page.getByLabel('Depth').selectOption('1')
  await expect.poll(count).toBeLessThan(two)
  const one = await count()
  await page.keyboard.press('Escape')
  await panel().getByRole('button', { name: /Velmouth Harbour Commissioners/ }).click()
  await panel().getByRole('heading').getByRole('button', { name: 'Velmouth Harbour Commissioners' }).click()
  await panel().getByRole('button', { name: 'Expand' }).click()
  await expect.poll(count).toBeGreaterThan(one)
  await page.getByRole('button', { name: 'Back to the whole graph' }).click()
  await expect.poll(count).toBe(whole)
})

it('lists scopes by prefix with counts, and shows nothing of another scope while it fetches one', async () => {
  await go('/graph')
  const scopes = page.getByRole('combobox', { name: 'Scope' })
  expect(await scopes.locator('optgroup').getAttribute('label')).toBe('known-in-chapter:')
  expect(await scopes.locator('option').allInnerTexts()).toEqual(['All (aggregate)', ...Array.from({ length: 10 }, (_none, index) => `known-in-chapter:${String(index + 1).padStart(2, '0')} · ${index + 1} document${index ? 's' : ''}`)])
  const asked: string[] = []
  let release = () => undefined as void
  await page.route('**/graphs?**', async (route) => {
    asked.push(new URL(route.request().url()).search)
    await new Promise<void>((done) => (release = done))
    await route.continue()
  })
  await scopes.selectOption('known-in-chapter:03')
  await expect.poll(() => asked.length).toBe(1)
  expect(asked[0]).toContain('required_tags=known-in-chapter%3A03')
  expect(await page.getByTestId('graph-canvas').count()).toBe(0)
  expect((await status().innerText()).trim()).toBe('')
  release()
  await page.getByTestId('graph-canvas').waitFor()
  await page.unroute('**/graphs?**')
  await search().fill('philippa')
  await page.getByText('No entity here has this in its name.').waitFor()
})

it('compares a scope with the whole: entities, relations and descriptions that it does not know yet', async () => {
  await go('/graph?scope=known-in-chapter:03')
  const known = await count()
  const compare = page.getByRole('button', { name: 'Show what it does not know yet' })
  await compare.click()
  await expect.poll(count).toBeGreaterThan(known)
  const whole = await count()
  const legend = page.getByRole('list', { name: 'Kinds of entities' })
  await legend.getByText(`${whole - known} not known yet`).waitFor()
  expect(await compare.getAttribute('aria-pressed')).toBe('true')
  await find('verrall', 'Augustin Verrall')
  await panel().getByTestId('known').getByText('Known in known-in-chapter:03').waitFor()
  await panel().getByTestId('known').getByTestId('evidence').getByRole('link').first().waitFor()
  const later = panel().getByTestId('unknown').getByTestId('evidence').getByRole('link')
  await later.first().waitFor()
  // Chapters after the third only: each has the tag of its own number.
  for (const text of await later.allInnerTexts()) expect(text).toMatch(/chapter:\s*(0[4-9]|10)/)
  await find('heron', 'Heron')
  expect(await panel().getByTestId('known').count()).toBe(0)
  await panel().getByTestId('unknown').getByText('Not known yet', { exact: true }).waitFor()
  expect(await seriousFaults(page)).toEqual([])
  // What was added to the picture is compared too.
  await panel().getByRole('button', { name: 'Expand' }).click()
  await page.getByRole('combobox', { name: 'Scope' }).selectOption('')
  await compare.waitFor({ state: 'detached' })
})

it('is limited by the filter of a question, down to the search and the evidence', async () => {
  await page.goto(server.page('/ask?tag=type:act'))
  await page.getByRole('link', { name: 'Show in graph' }).click()
  await status().getByText(/entities/).waitFor()
  await page.getByRole('list', { name: 'Active filters' }).getByText('type:act').waitFor()
  await search().fill('marlowe')
  await page.getByText('No entity here has this in its name.').waitFor()
  await find('commiss', 'Velmouth Harbour Commissioners')
  const evidence = panel().getByTestId('evidence').getByRole('link')
  await evidence.first().waitFor()
  for (const text of await evidence.allInnerTexts()) expect(text).toMatch(/type:\s*act/)
  // Behind a filter only a part of what is known is shown; writing would replace the rest unseen.
  const edit = panel().getByRole('button', { name: 'Edit' })
  expect(await edit.getAttribute('aria-disabled')).toBe('true')
  await edit.click({ force: true })
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.getByRole('link', { name: 'Ask about this' }).click()
  await page.waitForURL(/\/ask\?tag=type%3Aact/)
})

it('takes a scope that a question requires for the scope of the graph, and another one in its place', async () => {
  const asked: string[] = []
  page.on('request', (request) => {
    if (/\/graphs/.test(request.url())) asked.push(`${request.url()} ${request.postData() ?? ''}`)
  })
  await go('/graph?tag=known-in-chapter:03')
  const scopes = page.getByRole('combobox', { name: 'Scope' })
  expect(await scopes.inputValue()).toBe('known-in-chapter:03')
  await scopes.selectOption('known-in-chapter:05')
  await page.waitForURL(/scope=known-in-chapter/)
  await expect.poll(() => asked.at(-1)).toContain('known-in-chapter%3A05')
  expect(page.url()).not.toContain('tag=')
  await page.getByRole('link', { name: 'Ask about this' }).click()
  await page.waitForURL(/\/ask\?tag=known-in-chapter%3A05/)
})

it('changes and merges what is known', async () => {
  await go('/graph')
  await find('philippa', 'Philippa Dunmarrow')
  await panel().getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Description').fill('Keeper of the register.')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  await panel().getByText('Keeper of the register.').waitFor()
  await panel().getByRole('button', { name: 'Merge' }).click()
  await page.getByRole('dialog').getByRole('combobox', { name: 'Entities to merge' }).fill('Silvan Creed')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).click()
  await page.getByText('Merged', { exact: true }).waitFor()
  await search().fill('silvan')
  await page.getByText('No entity here has this in its name.').waitFor()
})

it('says what is empty and what failed, and is moved with the keyboard', async () => {
  await page.goto(server.page('/graph?tag=type:act&scope=known-in-chapter:03'))
  await page.getByText('Nothing in the graph fits this scope and filter.').waitFor()
  await page.getByTestId('preview-line').getByText('0 of 32 documents match').waitFor()
  await page.route('**/graphs?**', (route) => route.fulfill({ status: 500, json: { detail: 'The store is gone', code: 'internal' } }))
  await page.goto(server.page('/graph'))
  await page.getByRole('alert').getByText('The store is gone').waitFor()
  await page.unroute('**/graphs?**')
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
  const canvas = page.getByTestId('graph-canvas')
  await canvas.waitFor()
  await page.locator('[data-layout=done]').waitFor()
  const before = await canvas.screenshot()
  await canvas.focus()
  await page.keyboard.press('ArrowRight')
  await page.waitForTimeout(600)
  expect((await canvas.screenshot()).equals(before)).toBe(false)
})
