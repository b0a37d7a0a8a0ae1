import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { launch, openPage } from './browser'
import { startServer, type Server } from './server'

const ACCOUNTS = { AUTH_ACCOUNTS: 'ada:lovelace,bob:builder', TOKEN_SECRET: 'a secret that is long enough for this test' }

let browser: Browser
let server: Server

beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  await server.stop()
})

const signIn = async (page: Page, name: string, password: string) => {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const choose = async (page: Page, name: string, text: string) => {
  await page.getByRole('button', { name: 'Upload' }).first().click()
  await page.getByRole('dialog').locator('input[type=file]').setInputFiles([{ name, mimeType: 'text/markdown', buffer: Buffer.from(text) }])
}
const upload = async (page: Page, name: string, text: string) => {
  await choose(page, name, text)
  await page.getByRole('button', { name: 'Upload 1 file' }).click()
}

it('shows nothing of one person to the next who signs in, in whichever tab', async () => {
  server = await startServer(ACCOUNTS)
  const { page } = await openPage(browser, server.root)
  await page.goto(server.page('/ask'))
  await signIn(page, 'ada', 'lovelace')
  const question = page.getByRole('textbox', { name: 'Ask a question' })
  await question.fill('What did the Countess keep to herself?')
  await question.press('Enter')
  await page.getByTestId('answer').waitFor()
  const other = await page.context().newPage()
  await other.goto(server.page('/documents'))
  await other.getByRole('button', { name: 'ada' }).click()
  await other.getByRole('menuitem', { name: 'Sign out' }).click()
  await other.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.getByText('the Countess').count()).toBe(0)
  await signIn(other, 'bob', 'builder')
  await page.getByRole('button', { name: 'bob' }).waitFor()
  await question.waitFor()
  expect(await page.getByText('the Countess').count()).toBe(0)
  // Back again, ada finds what she asked.
  await page.getByRole('button', { name: 'bob' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await signIn(page, 'ada', 'lovelace')
  await page.getByText('the Countess').first().waitFor()
})

it('asks for the password again when it was changed while the page was open, and keeps what was begun', async () => {
  server = await startServer(ACCOUNTS)
  const { page } = await openPage(browser, server.root)
  await page.goto(server.page('/documents'))
  await signIn(page, 'ada', 'lovelace')
  await page.getByText('No documents yet').waitFor()
  server = await server.restart()
  await upload(page, 'first.md', 'The ferry of Velmouth crossed the river Vellan.')
  await row(page, 'first.md').getByText('Ready').waitFor()
  await choose(page, 'second.md', 'The bridge of Velmouth was opened by Mina Harrow.')
  server = await server.restart({ ...ACCOUNTS, AUTH_ACCOUNTS: 'ada:a new one,bob:builder' })
  await page.getByText('Your sign-in has expired. Please sign in again.').waitFor({ timeout: 30_000 })
  await signIn(page, 'ada', 'a new one')
  await page.getByRole('button', { name: 'Upload 1 file' }).click()
  await row(page, 'second.md').getByText('Ready').waitFor()
})

it('says in words that another tab has deleted what is being changed, or sent the same file', async () => {
  server = await startServer()
  const { page, faults } = await openPage(browser, server.root)
  const other = await page.context().newPage()
  for (const one of [page, other]) await one.goto(server.page('/documents'))
  await upload(page, 'shared.md', 'The ferry of Velmouth crossed the river Vellan.')
  await row(page, 'shared.md').getByText('Ready').waitFor()
  await upload(other, 'shared.md', 'The ferry of Velmouth crossed the river Vellan.')
  await other.getByRole('alert').getByText(/shared\.md/).waitFor()
  await other.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'shared.md', exact: true }).click()
  await page.getByRole('dialog').waitFor()
  await row(other, 'shared.md').waitFor()
  await other.getByRole('button', { name: 'Actions for shared.md' }).click()
  await other.getByRole('menuitem', { name: 'Delete' }).click()
  await other.getByRole('dialog', { name: 'Delete this document?' }).getByRole('button', { name: 'Delete' }).click()
  await row(other, 'shared.md').waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await row(page, 'shared.md').waitFor({ state: 'detached' })
  expect(faults).toEqual([])
})
