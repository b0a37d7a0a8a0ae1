import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, it } from 'vitest'
import { launch, openPage } from './browser'
import { startServer, type Server } from './server'

let browser: Browser
let server: Server | undefined

beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())
afterEach(async () => {
  await server?.stop()
  server = undefined
})

it('asks for the key, says when it is wrong, and lets in with the right one', async () => {
  server = await startServer({ LIGHTRAG_API_KEY: 'open sesame' })
  const { page } = await openPage(browser, server.root)
  await page.goto(server.page('/documents'))
  await page.getByRole('heading', { name: 'API key needed' }).waitFor()
  await page.getByLabel('API key').fill('wrong')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('The server does not accept this key.').waitFor()
  await page.getByLabel('API key').fill('open sesame')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('No documents yet').waitFor()
  await page.context().close()
})

it('signs in with an account, and out again', async () => {
  server = await startServer({ AUTH_ACCOUNTS: 'ada:lovelace', TOKEN_SECRET: 'a secret that is long enough for this test' })
  const { page } = await openPage(browser, server.root)
  await page.goto(server.page('/ask'))
  await page.getByLabel('Name').fill('ada')
  await page.getByLabel('Password').fill('byron')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Name or password is wrong.').waitFor()
  await page.getByLabel('Password').fill('lovelace')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'ada' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.context().close()
})

it('says that a sign-in has expired instead of showing nothing', async () => {
  server = await startServer({ AUTH_ACCOUNTS: 'ada:lovelace', TOKEN_SECRET: 'a secret that is long enough for this test' })
  const { page } = await openPage(browser, server.root, { storage: { 'lightrag.token': 'stale.token.here' } })
  await page.goto(server.page('/documents'))
  await page.getByText('Your sign-in has expired. Please sign in again.').waitFor()
  await page.context().close()
})

it('says that the server is gone, and goes on when it is back', async () => {
  server = await startServer()
  const { page } = await openPage(browser, server.root)
  await page.goto(server.page('/settings'))
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
  await page.context().setOffline(true)
  await page.getByText('The server does not answer. Trying again …').waitFor({ timeout: 25_000 })
  await page.context().setOffline(false)
  await page.getByText('The server does not answer. Trying again …').waitFor({ state: 'hidden' })
  await page.context().close()
})
