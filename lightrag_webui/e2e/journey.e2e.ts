import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readCorpus } from './server'
import { faults, page, server, withPage, withServer } from './setup'

withServer()
withPage()

it('begins with an invitation where there is nothing yet', async () => {
  await page.goto(server.page('/ask'))
  await page.getByRole('link', { name: 'Add documents' }).click()
  await page.getByText('No documents yet').waitFor()
})

it('uploads files with dates and tags', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'webui-files-'))
  const files = [1, 2].map((number) => {
    const path = join(folder, `lighthouse-${number}.md`)
    writeFileSync(path, `# Lighthouse report ${number}\n\nThe lighthouse of Gull Rock was repaired by Mina Harrow. Report ${number} says that the lamp burns oil.`)
    return path
  })
  await page.getByRole('button', { name: 'Upload' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('input[type=file]').setInputFiles(files)
  await dialog.getByRole('textbox', { name: 'First date' }).fill('2024-03-30')
  await dialog.getByRole('textbox', { name: 'Last date' }).fill('2024-03-01')
  await dialog.getByText('The end lies before the beginning.').waitFor()
  expect(await dialog.getByRole('button', { name: 'Upload 2 files' }).isDisabled()).toBe(true)
  await dialog.getByRole('textbox', { name: 'Last date' }).fill('2024-03-31')
  await dialog.getByRole('combobox', { name: 'Tags' }).fill('Type:Report')
  await page.keyboard.press('Enter')
  await dialog.getByLabel('Further metadata (JSON)').fill('{ "href": "https://example.org/lighthouse"')
  await dialog.getByText('This is not valid JSON.').waitFor()
  await dialog.getByLabel('Further metadata (JSON)').fill('{ "href": "https://example.org/lighthouse" }')
  await dialog.getByRole('button', { name: 'Upload 2 files' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('row').filter({ hasText: 'lighthouse-1.md' }).getByText('Ready').waitFor()
})

it('shows them with tags, dates and a link to the source', async () => {
  const row = page.getByRole('row').filter({ hasText: 'lighthouse-2.md' })
  await row.getByTitle('type:report').waitFor()
  expect(await row.innerText()).toContain('30 Mar 2024 – 31 Mar 2024')
  const link = row.getByRole('link', { name: 'Open source link' })
  expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual(['https://example.org/lighthouse', 'noopener noreferrer'])
  const stored = (await (await fetch(`${server.root}/documents/paginated`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' })).json()) as { documents: Array<Record<string, unknown>> }
  // In Amsterdam summer time began on the last day of the period.
  expect(stored.documents[0]).toMatchObject({ start_date: '2024-03-30T00:00:00+01:00', end_date: expect.stringMatching(/^2024-03-31T23:59:59\.999(000)?\+02:00$/), tags: ['type:report'] })
})

it('opens the details from an address, and changes metadata', async () => {
  await page.getByRole('button', { name: 'lighthouse-1.md', exact: true }).click()
  expect(page.url()).toContain('doc=')
  await page.reload()
  const details = page.getByRole('dialog')
  await details.getByRole('button', { name: 'Edit metadata' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit metadata' })
  await edit.getByRole('combobox', { name: 'Tags' }).fill('status:draft')
  await page.keyboard.press('Enter')
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.waitFor({ state: 'hidden' })
  await details.getByTitle('status:draft').waitFor()
  await page.keyboard.press('Escape')
})

it('answers a filtered question, and opens the passage of a reference', async () => {
  await readCorpus(server.root)
  await page.goto(server.page('/ask?tag=type:act&from=1931-01-01&to=1931-12-31&zone=Europe/London&match=contains&shape=has_start'))
  await page.reload()
  await page.getByTestId('preview-line').first().getByText(/^[1-9] of 34 documents match$/).waitFor()
  await page.getByRole('textbox', { name: 'Ask a question' }).fill('Which act set up the harbour and the bridge at Velmouth?')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Sources' }).waitFor()
  const sources = await page.getByTestId('reference').allInnerTexts()
  expect(sources.join('\n')).toContain('Act')
  // The act of 1903 ended in 1928, so it cannot be a source for the whole of 1931.
  expect(sources.join('\n')).not.toContain('Harbour Act 1903')
  await page.getByTestId('reference').first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByTestId('passage').first().waitFor()
  await dialog.getByTitle('type:act').waitFor()
  await page.keyboard.press('Escape')
})

it('shows what is sent, and clears a filter chip by chip', async () => {
  await page.getByText('What is sent', { exact: true }).click()
  const payload = JSON.parse(await page.getByTestId('filter-payload').innerText()) as unknown
  expect(payload).toEqual({
    date_filter: { range: { start: '1931-01-01T00:00:00+00:00', end: '1931-12-31T23:59:59.999+00:00' }, range_mode: 'contains', shape: 'has_start' },
    required_tags: ['type:act'],
  })
  const chips = page.getByRole('list', { name: 'Active filters' })
  await chips.getByRole('button', { name: 'Remove type:act' }).click()
  expect(page.url()).not.toContain('tag=')
  await chips.getByRole('button', { name: 'Clear all' }).click()
  await chips.waitFor({ state: 'detached' })
  await page.getByTestId('preview-line').first().getByText('All 34 documents, no filter').waitFor()
})

it('shows the graph of a scope, and what it does not know yet', async () => {
  await page.goto(server.page('/graph'))
  const status = page.getByTestId('graph-status')
  await status.getByText(/entities/).waitFor()
  const whole = Number.parseInt(await status.innerText(), 10)
  await page.getByTestId('graph-canvas').waitFor()
  await page.getByRole('combobox', { name: 'Scope' }).selectOption('known-in-chapter:03')
  await page.waitForURL(/scope=known-in-chapter/)
  await expect.poll(async () => Number.parseInt(await status.innerText(), 10), { timeout: 15_000 }).toBeLessThan(whole)
  await page.getByRole('combobox', { name: 'Find an entity' }).fill('verrall')
  await page.getByRole('listbox', { name: 'Find an entity' }).getByRole('option').first().click()
  const panel = page.getByTestId('object-panel')
  await panel.getByTestId('evidence').waitFor()
  // A reader after chapter 3 sees evidence of the first three chapters only.
  expect(await panel.getByTestId('evidence').getByRole('link').count()).toBeLessThanOrEqual(3)
  await page.goto(server.page('/graph?scope=known-in-chapter:03&compare=1'))
  await page.getByText(/not known yet/).waitFor()
})

it('made no script fail and asked nobody else', () => {
  expect(faults).toEqual([])
})
