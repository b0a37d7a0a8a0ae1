/** Not a test but a camera: `scripts/webui.sh shots` takes the pictures of the README. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { it } from 'vitest'
import { launch, openPage } from './browser'
import { readCorpus, startServer } from './server'

const target = join(import.meta.dirname, '../screenshots')
const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true }
const FILTER = '/ask?tag=type:act&from=1931-01-01&to=1931-12-31&match=contains&shape=has_start&zone=Europe/London'

it.runIf(process.env['SCREENSHOTS'])('takes pictures', { timeout: 240_000 }, async () => {
  mkdirSync(target, { recursive: true })
  const server = await startServer()
  await readCorpus(server.root)
  const browser = await launch()
  const shoot = async (name: string, path: string, options: Parameters<typeof openPage>[2], prepare?: (page: Page) => Promise<unknown>) => {
    const { page } = await openPage(browser, server.root, options)
    await page.goto(server.page(path))
    await page.waitForLoadState('networkidle')
    await prepare?.(page)
    await page.waitForTimeout(900)
    await page.screenshot({ path: join(target, `${name}.png`) })
    await page.context().close()
  }
  const ask = async (page: Page) => {
    await page.getByRole('textbox').first().fill('Which act set up the harbour and the bridge at Velmouth?')
    await page.keyboard.press('Enter')
    await page.getByTestId('reference').first().waitFor()
  }
  await shoot('documents', '/documents?sort=file_path&dir=asc', {})
  await shoot('ask', FILTER, {}, ask)
  await shoot('passage', FILTER, {}, async (page) => {
    await ask(page)
    await page.getByTestId('reference').first().click()
  })
  await shoot('upload', '/documents', {}, async (page) => {
    await page.getByRole('button', { name: 'Upload' }).click()
    const dialog = page.getByRole('dialog')
    const file = (name: string, size: number) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.alloc(size) })
    await dialog.locator('input[type=file]').setInputFiles([file('minutes-1931-06.pdf', 184_300), file('minutes-1931-07.pdf', 201_900), file('letter-to-the-board.docx', 24_100)])
    await dialog.getByRole('textbox', { name: 'First date' }).fill('1931-06-01')
    await dialog.getByRole('textbox', { name: 'Last date' }).fill('1931-07-31')
    await dialog.getByRole('combobox', { name: 'Tags' }).fill('type:minutes, place:velmouth,')
    await dialog.getByRole('combobox', { name: 'Tags' }).press('Enter')
    await dialog.getByText('Upload documents').click()
  })
  await shoot('graph', '/graph', {}, (page) => page.waitForTimeout(1500))
  await shoot('graph-scope', '/graph?scope=known-in-chapter:03&label=Augustin%20Verrall', {}, (page) => page.waitForTimeout(1500))
  await shoot('graph-compare-dark', '/graph?scope=known-in-chapter:03&compare=1', { storage: { 'lightrag.theme': 'dark' } }, (page) => page.waitForTimeout(1500))
  await shoot('documents-dark', '/documents?sort=file_path&dir=asc&tag=type:act', { storage: { 'lightrag.theme': 'dark' } })
  await shoot('ask-arabic', FILTER, { storage: { 'lightrag.language': 'ar' } }, ask)
  await shoot('ask-phone', FILTER, PHONE, ask)
  await shoot('documents-phone', '/documents', PHONE)
  await shoot('ask-japanese', '/ask', { storage: { 'lightrag.language': 'ja' } })
  await browser.close()
  await server.stop()
})
