import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { seriousFaults } from './axe'
import { launch, openPage, settled } from './browser'
import { startServer, type Server } from './server'

const ACCOUNTS = { AUTH_ACCOUNTS: 'ada:lovelace', TOKEN_SECRET: 'a secret that is long enough for this test' }

let browser: Browser
let server: Server | undefined

beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  await server?.stop()
  server = undefined
})

const signIn = async (page: Page, password = 'lovelace') => {
  await page.getByLabel('Name').fill('ada')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
const tokenOf = (page: Page) => page.evaluate(() => localStorage.getItem('lightrag.token'))

it('asks for the key, says when it is wrong, and lets in with the right one', async () => {
  server = await startServer({ LIGHTRAG_API_KEY: 'open sesame' })
  const { page } = await openPage(browser, server.root)
  await page.goto(server.page('/documents?state=failed'))
  await page.getByRole('heading', { name: 'API key needed' }).waitFor()
  await page.getByLabel('API key').fill('wrong')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('The server does not accept this key.').waitFor()
  await page.getByLabel('API key').fill('open sesame')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Documents' }).waitFor()
  expect(page.url()).toContain('/documents?state=failed')
})

it('works where there is no HTTPS, and with anything that this browser may have kept', async () => {
  server = await startServer()
  const root = server.root.replace('127.0.0.1', 'insecure.test')
  const names = ['conversations', 'filters', 'zones', 'answer', 'panel', 'brand']
  for (const kept of ['null', '[{"id":"a","messages":null}]', '{bad']) {
    const { page, faults } = await openPage(browser, root, { storage: Object.fromEntries(names.map((name) => [`lightrag.${name}`, kept])) })
    await page.goto(`${root}/webui/#/ask`)
    expect(await page.evaluate(() => window.isSecureContext)).toBe(false)
    const question = page.getByRole('textbox', { name: 'Ask a question' })
    await question.fill('Who built the bridge?')
    await question.press('Enter')
    await page.getByTestId('answer').waitFor()
    await page.reload()
    await page.getByTestId('answer').waitFor()
    expect(faults).toEqual([])
  }
})

it('shows the name of the server, signs in with an account or a key, and out again in all tabs', async () => {
  server = await startServer({ ...ACCOUNTS, LIGHTRAG_API_KEY: 'open sesame', WEBUI_TITLE: 'Velmouth Archive', WEBUI_DESCRIPTION: 'Acts and letters of the harbour', ENABLE_AI_CONTENT_NOTICE: 'true' })
  const { page } = await openPage(browser, server.root)
  await page.goto(server.page('/settings'))
  await page.getByText('Acts and letters of the harbour').waitFor()
  await settled(page)
  expect(await seriousFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Use an API key instead' }).click()
  await page.getByRole('heading', { name: 'API key needed' }).waitFor()
  await page.getByRole('button', { name: 'Sign in with an account instead' }).click()
  await signIn(page, 'byron')
  await page.getByText('Name or password is wrong.').waitFor()
  await signIn(page)
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
  expect(await page.title()).toBe('Settings · Velmouth Archive')
  await page.getByRole('link', { name: 'Velmouth Archive' }).waitFor()
  await page.getByRole('link', { name: 'Ask', exact: true }).click()
  await page.getByText('Answers are written by a model and can be wrong.').waitFor()
  const other = await page.context().newPage()
  await other.goto(server.page('/documents'))
  await other.getByText('No documents yet').waitFor()
  await page.getByRole('button', { name: 'ada' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await other.getByRole('heading', { name: 'Sign in' }).waitFor()
})

it('says how long to wait after too many wrong passwords', async () => {
  server = await startServer({ ...ACCOUNTS, LOGIN_MAX_FAILED_ATTEMPTS: '1' })
  const { page } = await openPage(browser, server.root)
  await page.goto(server.page('/ask'))
  await signIn(page, 'byron')
  await page.getByText('Name or password is wrong.').waitFor()
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText(/^Too many failed attempts\. Try again in \d+ seconds\.$/).waitFor()
})

it('takes the fresh token that the server sends along, and outlives the first one', async () => {
  const LIFE = 16
  server = await startServer({ ...ACCOUNTS, TOKEN_EXPIRE_HOURS: String(LIFE / 3600), TOKEN_RENEW_THRESHOLD: '0.7' })
  const { page } = await openPage(browser, server.root)
  await page.goto(server.page('/documents'))
  await signIn(page)
  await page.getByText('No documents yet').waitFor()
  const first = await tokenOf(page)
  const end = Date.now() + LIFE * 1000
  const visit = async () => {
    await page.reload()
    await page.getByText('No documents yet').waitFor()
    return tokenOf(page)
  }
  await expect.poll(visit, { timeout: LIFE * 1000 }).not.toBe(first)
  await expect.poll(() => Date.now(), { timeout: LIFE * 1000 }).toBeGreaterThan(end)
  await visit()
})

it('says that a sign-in has expired, and goes back to what was begun', async () => {
  // Ten seconds.
  server = await startServer({ ...ACCOUNTS, TOKEN_EXPIRE_HOURS: String(10 / 3600), TOKEN_AUTO_RENEW: 'false' })
  const { page } = await openPage(browser, server.root)
  await page.goto(server.page('/documents?sort=file_path&dir=asc'))
  await signIn(page)
  await page.getByText('No documents yet').waitFor()
  await page.getByRole('button', { name: 'Upload' }).first().click()
  const upload = page.getByRole('dialog', { name: 'Upload documents' })
  await upload.getByLabel('Kind of document').fill('a kind that took long to think of')
  await page.getByText('Your sign-in has expired. Please sign in again.').waitFor({ timeout: 30_000 })
  await settled(page)
  expect(await seriousFaults(page)).toEqual([])
  expect(await page.getByLabel('Name').inputValue()).toBe('ada')
  await page.getByLabel('Password').fill('lovelace')
  await page.getByLabel('Password').press('Enter')
  await upload.waitFor()
  expect(await upload.getByLabel('Kind of document').inputValue()).toBe('a kind that took long to think of')
  expect(page.url()).toContain('sort=file_path&dir=asc')
})

it('says that a stored sign-in is no longer good instead of showing nothing', async () => {
  server = await startServer(ACCOUNTS)
  const { page } = await openPage(browser, server.root, { storage: { 'lightrag.token': 'stale.token.here' } })
  await page.goto(server.page('/documents'))
  await page.getByText('Your sign-in has expired. Please sign in again.').waitFor()
})

it('says that the server is gone, opens no page of the browser, and goes on when it is back', async () => {
  server = await startServer()
  const { page } = await openPage(browser, server.root)
  await page.goto(server.page('/documents'))
  await page.getByText('No documents yet').waitFor()
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Graph' }).first().click()
  await page.getByRole('heading', { name: 'The server does not answer' }).waitFor()
  await page.getByText('The server does not answer. Trying again …').waitFor({ timeout: 25_000 })
  expect(await seriousFaults(page)).toEqual([])
  await page.context().setOffline(false)
  await page.getByRole('heading', { name: 'The server does not answer' }).waitFor({ state: 'detached' })
  await page.getByText('The server does not answer. Trying again …').waitFor({ state: 'detached' })
  expect(page.url()).toContain('/graph')
})

it('begins without the server, and goes on once it is there', async () => {
  server = await startServer()
  const { page } = await openPage(browser, server.root)
  await page.route('**/auth-status', (route) => route.abort())
  await page.goto(server.page('/documents'))
  await page.getByRole('heading', { name: 'The server does not answer' }).waitFor()
  await page.unroute('**/auth-status')
  await page.getByText('No documents yet').waitFor()
})

it('is not blank when not even its script comes', async () => {
  server = await startServer()
  const { page } = await openPage(browser, server.root)
  await page.route('**/assets/*.js', (route) => route.abort())
  await page.goto(server.page('/documents'))
  await page.getByText('The page could not be loaded').waitFor()
})

it('has words even where those of the chosen language do not come', async () => {
  server = await startServer()
  const { page } = await openPage(browser, server.root, { storage: { 'lightrag.language': 'nl' } })
  await page.goto(server.page('/documents'))
  await page.getByText('Nog geen documenten').waitFor()
  await page.route(/\/assets\/nl-[^/]*\.js$/, (route) => route.abort())
  await page.reload()
  await page.getByText('No documents yet').waitFor()
})
