import { expect, it } from 'vitest'
import { seriousFaults } from './axe'
import { page, server, withCorpus, withPages, withServer } from './setup'

withServer()
withCorpus()
withPages({ permissions: ['clipboard-read', 'clipboard-write'] })

const go = async (path: string) => {
  await page.goto(server.page(path))
  await page.getByTestId('preview-line').first().getByText(/document/).waitFor()
}
const question = () => page.getByRole('textbox', { name: 'Ask a question' })
const ask = (text: string) => question().fill(text).then(() => page.keyboard.press('Enter'))
const payload = async () => JSON.parse((await page.getByTestId('filter-payload').textContent()) ?? '') as Record<string, unknown>
const preview = (text: string | RegExp) => page.getByTestId('preview-line').first().getByText(text).waitFor()
const chips = () => page.getByRole('list', { name: 'Active filters' })
const choose = async (field: string, text: string, option: RegExp) => {
  await page.getByRole('combobox', { name: field, exact: true }).fill(text)
  await page.getByRole('option', { name: option }).click()
}

it('renders what a model writes: tables, code, formulas; prices are prices and nothing runs', async () => {
  const answer = 'It cost $5, later $10 [1].\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nprint("hello")\n```\n\nSo \\(e^{i\\pi}=-1\\) and $x^2$.\n\n<img src=x onerror="window.ran=1"><script>window.ran=1</script>\n\n[bad](javascript:window.ran=1)'
  const lines = [{ references: [{ reference_id: '1', file_path: 'archive/act-1903-harbour.md', content: ['One.'] }] }, ...[...answer].map((letter) => ({ response: letter })), { response_time: 0.1, llm_generated: true }]
  await page.route('**/query/stream', (route) => route.fulfill({ contentType: 'application/x-ndjson', body: lines.map((line) => `${JSON.stringify(line)}\n`).join('') }))
  await go('/ask')
  await ask('Anything?')
  await page.getByTestId('reference').waitFor()
  const shown = page.getByTestId('answer')
  await shown.locator('table td').first().waitFor()
  await shown.locator('pre code .hljs-string').waitFor()
  expect(await shown.locator('.katex').count()).toBe(2)
  expect(await shown.innerText()).toContain('It cost $5, later $10')
  expect(await shown.locator('img, script, a[href^=javascript]').count()).toBe(0)
  expect(await page.evaluate(() => 'ran' in window)).toBe(false)
  await shown.getByRole('button', { name: 'Copy' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('print("hello")\n')
})

it('stops, asks again, copies, and keeps the conversation in this browser', async () => {
  await page.route('**/query/stream', () => undefined)
  await go('/ask?tag=type:act')
  await ask('Which act set up the harbour at Velmouth?')
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Stopped.').waitFor()
  await page.unroute('**/query/stream')
  await page.getByRole('button', { name: 'Ask again' }).click()
  await page.getByTestId('reference').first().waitFor()
  await page.getByRole('article').last().getByRole('button', { name: 'Copy' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('Velmouth')
  await page.reload()
  await expect.poll(() => page.getByRole('article').count()).toBe(2)
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await page.getByRole('heading', { name: 'What do you want to know?' }).waitFor()
  await page.getByRole('button', { name: 'History' }).click()
  await page.getByRole('button', { name: /^Which act set up/ }).click()
  expect(await page.getByRole('article').count()).toBe(2)
  for (let left = 2; left > 0; left -= 1) await page.getByRole('article').last().getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'History' }).click()
  await page.getByText('No earlier conversations.').waitFor()
})

it('says what went wrong, and gives a way on', async () => {
  await page.route('**/query/stream', (route) => route.fulfill({ contentType: 'application/x-ndjson', body: '{"response":"Half of it"}\n{"error":"The model does not answer","code":"model_error"}\n' }))
  await go('/ask')
  await ask('Anything?')
  await page.getByRole('alert').getByText('The model does not answer').waitFor()
  await page.getByTestId('answer').getByText('Half of it').waitFor()
  await page.unroute('**/query/stream')
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
  await page.getByTestId('reference').first().waitFor()
  await go('/ask?tag=type:act&tag=type:letter')
  await preview('0 of 32 documents match')
  await ask('Who designed Hallowgate Bridge?')
  await page.getByText('Nothing was found').waitFor()
  await page.getByRole('button', { name: 'Ask without the filter' }).click()
  await page.getByRole('article').last().getByTestId('reference').first().waitFor()
})

it('opens the passage as Markdown, with dates and tags, at the sentence that the answer rests on', async () => {
  await go('/ask?tag=type:act')
  await ask('What harbour dues may the Velmouth Harbour Commissioners charge for each ton of cargo?')
  await page.getByTestId('reference').first().waitFor()
  const item = page.getByTestId('answer').getByRole('listitem').filter({ hasText: 'one penny' })
  await item.getByRole('button').last().click()
  const dialog = page.getByRole('dialog', { name: /Velmouth Harbour Act 1903/ })
  await dialog.getByText('1 May 1903 – 31 Mar 1928').waitFor()
  await dialog.getByTitle('status:repealed').waitFor()
  await dialog.getByTestId('passage').getByRole('heading', { name: 'Velmouth Harbour Act 1903' }).waitFor()
  expect(await dialog.getByTestId('passage').first().innerText()).not.toContain('**')
  const mark = dialog.locator('mark').first()
  expect(await mark.innerText()).toContain('one penny for each ton of cargo')
  const box = await mark.boundingBox()
  expect(box && box.y > 60 && box.y + box.height < 790).toBe(true)
  expect(await seriousFaults(page)).toEqual([])
  expect(await dialog.getByRole('link', { name: 'Open source link' }).getAttribute('href')).toBe('https://archive.example/acts/1903/12')
  await dialog.getByRole('button', { name: 'Open document' }).click()
  await page.waitForURL(/\/documents\?doc=/)
})

it('sends mode and budgets from the side panel, and nothing that has its default', async () => {
  await go('/ask?tab=answer')
  const bodies: unknown[] = []
  page.on('request', (request) => request.url().endsWith('/query/stream') && bodies.push(request.postDataJSON()))
  await ask('Who is Edda Marlowe?')
  await page.getByTestId('reference').first().waitFor()
  const panel = page.getByRole('complementary', { name: 'Filters and settings' })
  await panel.getByRole('combobox', { name: 'Mode' }).selectOption('naive')
  await panel.getByRole('spinbutton', { name: 'Passages' }).fill('3')
  await panel.getByRole('spinbutton', { name: 'Tokens in all' }).fill('4000')
  await ask('And whom does she work for?')
  await page.getByRole('article').nth(1).getByTestId('reference').first().waitFor()
  expect(bodies[0]).toEqual({ query: 'Who is Edda Marlowe?', mode: 'mix', include_references: true, include_chunk_content: true, include_progress: true })
  expect(bodies[1]).toMatchObject({ mode: 'naive', chunk_top_k: 3, max_total_tokens: 4000, conversation_history: [{ role: 'user', content: 'Who is Edda Marlowe?' }, { role: 'assistant' }] })
  expect(await page.getByRole('article').nth(1).getByTestId('reference').count()).toBeLessThanOrEqual(3)
  await page.getByRole('article').nth(1).getByRole('button', { name: 'What was sent' }).click()
  expect(JSON.parse(await page.getByRole('dialog').locator('pre').innerText())).toEqual(bodies[1])
})

it('offers every intent of the table, each with what is sent for it', async () => {
  await go('/ask?from=1931-01-01&to=1931-12-31&zone=UTC')
  await page.getByText('What is sent', { exact: true }).click()
  const range = { start: '1931-01-01T00:00:00+00:00', end: '1931-12-31T23:59:59.999+00:00' }
  const table: Array<[string, object]> = [
    ['Archive discovery', { range, undated: 'include_or' }],
    ['Legislation / in force', { range, range_mode: 'contains', shape: 'has_start' }],
    ['Activity in period', { range, shape: 'has_start' }],
    ['Wholly within period', { range, range_mode: 'contained_by', shape: 'has_start' }],
    ['Strict catalogue', { range, shape: 'bounded' }],
    ['Broad retrieval', { range }],
    ['Uncatalogued only', { undated: 'only' }],
  ]
  for (const [name, dates] of table) {
    await page.getByRole('button', { name: /^What are you looking for/ }).click()
    await page.getByRole('menuitemradio', { name }).click()
    await expect.poll(payload, { message: name }).toEqual({ date_filter: dates })
  }
  await preview('14 of 32 documents match')
  await page.getByText('Advanced', { exact: true }).click()
  await page.getByRole('button', { name: /^What are you looking for/ }).click()
  expect(await seriousFaults(page)).toEqual([])
})

it('chooses a period with the mouse or the keyboard on the histogram of the corpus', async () => {
  await go('/ask?zone=UTC')
  await page.getByText('What is sent', { exact: true }).click()
  await page.getByTestId('histogram').scrollIntoViewIfNeeded()
  const bars = await page.getByTestId('histogram').boundingBox()
  if (!bars) throw new Error('no histogram')
  // 38 years from 1903 to 1940 lie between the margins.
  const at = (year: number) => bars.x + 8 + ((year - 1903 + 0.5) / 38) * (bars.width - 16)
  await page.mouse.move(at(1920), bars.y + 40)
  await page.mouse.down()
  await page.mouse.move(at(1930), bars.y + 40, { steps: 4 })
  await page.mouse.up()
  await expect.poll(payload).toEqual({ date_filter: { range: { start: '1920-01-01T00:00:00+00:00', end: '1930-12-31T23:59:59.999+00:00' } } })
  await page.getByRole('slider', { name: 'First year' }).focus()
  await page.keyboard.press('ArrowRight')
  await expect.poll(payload).toMatchObject({ date_filter: { range: { start: '1921-01-01T00:00:00+00:00' } } })
  await page.getByRole('slider', { name: 'First year' }).focus()
  await page.keyboard.press('Home')
  await page.getByRole('slider', { name: 'Last year' }).focus()
  await page.keyboard.press('End')
  await expect.poll(payload).toEqual({})
})

it('writes dates with the offset of the zone on that day; an end day ends with its last millisecond', async () => {
  await go('/ask')
  await page.getByText('What is sent', { exact: true }).click()
  await page.getByRole('combobox', { name: 'Time zone' }).selectOption('America/New_York')
  await page.getByLabel('From', { exact: true }).fill('2024-03-09')
  await page.getByLabel('To', { exact: true }).fill('2024-03-10')
  await expect.poll(payload).toEqual({ date_filter: { range: { start: '2024-03-09T00:00:00-05:00', end: '2024-03-10T23:59:59.999-04:00' } } })
  await page.getByText('UTC-05:00 → UTC-04:00 at that date').waitFor()
  await chips().getByText('9 Mar 2024 – 10 Mar 2024 (America/New York)').waitFor()
  await page.getByLabel('To', { exact: true }).fill('2024-03-08')
  await preview('The end lies before the beginning.')
  await question().fill('x')
  expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
})

it('limits by tags with counts, kinds and folders, in words, each with a chip that closes it', async () => {
  await go('/ask')
  await choose('Must have', 'letter', /^type:letter\s*4$/)
  await choose('Must have', 'newsp', /^type:newspaper\s*4$/)
  await preview('0 of 32 documents match')
  await page.getByText('Any tag', { exact: true }).click()
  await preview('8 of 32 documents match')
  await choose('Must not have', 'brandreth', /^person:ottoline-brandreth/)
  await page.getByRole('switch', { name: 'Also for the knowledge graph' }).click()
  await page.getByText(/an entity goes as soon as one of them has a forbidden tag/).waitFor()
  await page.getByText('Source', { exact: true }).click()
  await choose('Kinds of document', 'letter', /^letter\s*4$/)
  await choose('Folders', 'arch', /^archive\s*22$/)
  await page.getByText('Advanced', { exact: true }).click()
  await page.getByRole('combobox', { name: 'Undated documents' }).selectOption('only')
  await page.getByText('What is sent', { exact: true }).click()
  expect(await payload()).toEqual({
    date_filter: { undated: 'only' }, required_tags: ['type:letter', 'type:newspaper'], required_tags_mode: 'or', forbidden_tags: ['person:ottoline-brandreth'],
    apply_forbidden_tags_to_kg: true, doc_types: ['letter'], path_prefixes: ['archive'],
  })
  await preview('1 of 32 documents match')
  for (const chip of ['Undated documents only', 'also in the graph', 'not person:ottoline-brandreth', 'or type:newspaper', 'kind: letter', 'in archive']) {
    await chips().getByRole('button', { name: `Remove ${chip}`, exact: true }).click()
  }
  await expect.poll(payload).toEqual({ required_tags: ['type:letter'] })
  await preview('4 of 32 documents match')
  await page.getByRole('textbox', { name: 'Name of this filter' }).fill('Letters')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await chips().getByRole('button', { name: 'Clear all' }).click()
  await preview('All 32 documents, no filter')
  await page.reload()
  await page.getByRole('button', { name: 'Letters', exact: true }).click()
  await preview('4 of 32 documents match')
  await page.getByRole('link', { name: 'Show in graph' }).click()
  await page.waitForURL(/\/graph\?tag=type%3Aletter/)
})

it('explains scopes where they are chosen, and that a mode without documents knows no filter', async () => {
  await go('/ask?tag=known-in-chapter:03')
  await preview('3 of 32 documents match')
  await page.goto(server.page('/ask?tag=known-in-chapter:03&tag=known-in-chapter:04'))
  await preview('Only one scope at a time.')
  await page.goto(server.page('/ask?tag=known-in-chapter:03&not=known-in-chapter:04'))
  await page.getByText(/A scope is required and another one forbidden/).waitFor()
  await page.getByRole('combobox', { name: 'Mode' }).selectOption('bypass')
  await page.getByText('The model answers from itself; filters do not matter.').first().waitFor()
})
