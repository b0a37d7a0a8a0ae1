/** What the tests of a file share: a server, a browser, and the page that they look at. */

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { launch, openPage } from './browser'
import { readCorpus, startServer, type Server } from './server'

export let server: Server
export let browser: Browser
export let page: Page
/** What the page has done wrong so far. */
export let faults: string[]

/** Runs a server and a browser during all tests. Comes before the others. */
export function withServer(): void {
  beforeAll(async () => {
    server = await startServer()
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })
}

/** Stores the demo's corpus, or the part of it below a folder, before the tests. */
export function withCorpus(below?: string): void {
  beforeAll(async () => {
    await readCorpus(server.root, below)
  })
}

type Options = Parameters<typeof openPage>[2]

const open = async (options?: Options) => {
  ;({ page, faults } = await openPage(browser, server.root, options))
}

/** Opens one page for all tests. */
export function withPage(): void {
  beforeAll(() => open())
}

/** Opens a page for each test, which may do nothing wrong. */
export function withPages(options?: Options): void {
  beforeEach(async (test) => {
    await open(options)
    test.onTestFinished(async () => {
      expect(faults).toEqual([])
      await page.context().close()
    })
  })
}
