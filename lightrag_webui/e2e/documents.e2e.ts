import { beforeAll, expect, it } from 'vitest'
import { settled } from './browser'
import { faults, page, server, withPage, withServer } from './setup'

withServer()
withPage()
beforeAll(async () => {
  await page.goto(server.page('/documents'))
  await page.getByText('No documents yet').waitFor()
})

const row = (name: string) => page.getByRole('row').filter({ hasText: name })
const file = (name: string, text: string) => ({ name, mimeType: 'text/markdown', buffer: Buffer.from(text) })

it('takes files that are dropped anywhere on the page', async () => {
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File(['# Ferry\n\nThe ferry of Velmouth crossed the river Vellan.'], 'ferry.md', { type: 'text/markdown' }))
    return transfer
  })
  const main = page.locator('main > div').first()
  await main.dispatchEvent('dragover', { dataTransfer: data })
  await page.getByText('Drop to upload').waitFor()
  await main.dispatchEvent('drop', { dataTransfer: data })
  const dialog = page.getByRole('dialog')
  await dialog.getByText('ferry.md').waitFor()
  // A click beside the dialog does not throw away what was chosen.
  await page.mouse.click(5, 5)
  await dialog.getByRole('button', { name: 'Upload 1 file' }).click()
  await dialog.waitFor({ state: 'detached' })
  await row('ferry.md').getByText('Ready').waitFor()
})

it('says at the field what the server has against it, and at the file', async () => {
  await page.getByRole('button', { name: 'Upload' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('input[type=file]').setInputFiles([file('ferry.md', 'again'), file('bridge.md', '# Bridge\n\nThe bridge of Velmouth was opened by Mina Harrow.')])
  const tags = dialog.getByRole('combobox', { name: 'Tags' })
  await tags.fill('x'.repeat(200))
  await tags.press('Enter')
  await dialog.getByRole('button', { name: 'Upload 2 files' }).click()
  const note = dialog.getByText(/has 200 characters; allowed are 128/)
  await note.first().waitFor()
  expect(await tags.getAttribute('aria-invalid')).toBe('true')
  await tags.press('Backspace')
  await tags.fill('type:bridge')
  await tags.press('Enter')
  await dialog.getByRole('button', { name: 'Upload 2 files' }).click()
  // One goes, the other is refused: the dialog stays and says why.
  await dialog.getByLabel('Uploaded').waitFor()
  await dialog.getByRole('alert').getByText(/ferry\.md/).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await row('bridge.md').getByText('Ready').waitFor()
})

it('suggests tags that documents have, and remembers zones', async () => {
  await page.getByRole('button', { name: 'Upload' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Tags' }).click()
  await dialog.getByRole('option', { name: /type:bridge/ }).waitFor()
  await dialog.getByRole('textbox', { name: 'First date' }).fill('1931-07-01')
  const zone = dialog.getByRole('combobox', { name: 'Time zone' })
  await zone.selectOption('America/New_York')
  // Daylight saving as it was on that day.
  await dialog.getByText('UTC-04:00 at that date').waitFor()
  expect(await zone.locator('optgroup').first().getAttribute('label')).toBe('Recently used')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

it('shows why a document failed, and tries it again', async () => {
  await page.getByRole('button', { name: 'Upload' }).first().click()
  await page.getByRole('dialog').locator('input[type=file]').setInputFiles([{ name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4 nothing of the kind') }])
  await page.getByRole('button', { name: 'Upload 1 file' }).click()
  await row('broken.pdf').getByText('Failed').waitFor()
  await page.getByRole('button', { name: 'Retry 1 failed' }).waitFor()
  await page.getByRole('button', { name: 'Actions for broken.pdf' }).click()
  const asked = page.waitForRequest((request) => /\/documents\/doc-[^/]+\/retry$/.test(request.url()))
  await page.getByRole('menuitem', { name: 'Try again' }).click()
  await asked
  await page.getByText('The document is tried again').waitFor()
  await row('broken.pdf').getByText('Failed').waitFor()
  await page.getByRole('button', { name: 'broken.pdf', exact: true }).click()
  const details = page.getByRole('dialog')
  await details.getByRole('heading', { name: 'What went wrong' }).waitFor()
  await details.getByRole('button', { name: 'Try again' }).waitFor()
  await page.keyboard.press('Escape')
})

it('filters by state, tag and text, and keeps all of it in the address', async () => {
  await page.getByRole('radio', { name: /^Failed/ }).click({ force: true })
  await page.getByText('1–1 of 1', { exact: true }).waitFor()
  await page.getByRole('radio', { name: /^All/ }).click({ force: true })
  await page.getByRole('searchbox').fill('MINA HARROW')
  await page.getByText('1–1 of 1', { exact: true }).waitFor()
  await row('bridge.md').waitFor()
  await page.getByRole('button', { name: 'Document', exact: true }).click()
  await page.waitForURL(/q=MINA\+HARROW.*sort=file_path.*dir=asc/)
  await page.reload()
  await page.getByText('1–1 of 1', { exact: true }).waitFor()
  expect(await page.getByRole('searchbox').inputValue()).toBe('MINA HARROW')
  await page.getByRole('searchbox').fill('')
  await page.getByText('1–3 of 3', { exact: true }).waitFor()
  // An address that names a page which is not there shows the last one.
  await page.goto(server.page('/documents?page=9&tag=type:bridge'))
  await page.getByText('1–1 of 1', { exact: true }).waitFor()
  await row('bridge.md').waitFor()
  expect(page.url()).not.toContain('page=')
})

it('stops the pipeline and shows its log', async () => {
  const status = { busy: true, job_name: 'x', job_start: '2026-01-01T00:00:00+00:00', docs: 4, batchs: 1, cur_batch: 1, latest_message: 'file-2.md: reading', history_messages: ['file-1.md: processed'], destructive_busy: false, scanning: false, pending_enqueues: 0, cancellation_requested: false }
  await page.route('**/documents/pipeline_status', (route) => route.fulfill({ json: status }))
  await page.goto(server.page('/documents'))
  const strip = page.getByRole('region', { name: 'Progress' })
  await strip.getByText('1 of 4').waitFor()
  await strip.getByRole('button', { name: 'Log' }).click()
  await page.getByRole('dialog').getByText('file-1.md: processed').waitFor()
  status.history_messages = ['file-1.md: processed', 'file-2.md: processed']
  await page.getByRole('dialog').getByText('file-2.md: processed').waitFor()
  await page.keyboard.press('Escape')
  await page.route('**/documents/cancel_pipeline', (route) => {
    status.cancellation_requested = true
    return route.fulfill({ json: { status: 'cancellation_requested', message: 'the pipeline stops at its next step' } })
  })
  await strip.getByRole('button', { name: 'Stop' }).click()
  await strip.getByRole('button', { name: 'Stopping …' }).waitFor()
  await page.unroute('**/documents/pipeline_status')
  await strip.waitFor({ state: 'detached' })
})

it('deletes one document only after asking, and everything only after typing how much', async () => {
  await settled(page)
  await page.getByRole('button', { name: 'Actions for broken.pdf' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const ask = page.getByRole('dialog', { name: 'Delete this document?' })
  await ask.getByText('broken.pdf').waitFor()
  await ask.getByRole('button', { name: 'Cancel' }).click()
  await row('broken.pdf').waitFor()
  await page.getByRole('button', { name: 'Actions for broken.pdf' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await ask.getByRole('button', { name: 'Delete' }).click()
  await row('broken.pdf').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: /Delete everything/ }).click()
  const clear = page.getByRole('dialog', { name: 'Delete everything?' })
  expect(await clear.getByRole('button', { name: 'Delete everything' }).isDisabled()).toBe(true)
  await page.keyboard.type('2')
  await clear.getByRole('button', { name: 'Delete everything' }).click()
  await page.getByText('No documents yet').waitFor()
})

it('says in words when the list cannot be had, and fetches it when asked', async () => {
  await page.route('**/documents/paginated', (route) => route.fulfill({ status: 503, json: { detail: 'the store could not be read', code: 'storage_error' } }))
  await page.reload()
  await page.getByRole('alert').getByText('the store could not be read').waitFor()
  await page.unroute('**/documents/paginated')
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
  await page.getByText('No documents yet').waitFor()
})

it('made no script fail and asked nobody else', () => {
  expect(faults).toEqual([])
})
