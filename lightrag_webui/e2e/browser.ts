/** Debian's Chromium without a window, without calls home. */

import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { existsSync } from 'node:fs'

export const CHROMIUM = process.env['CHROMIUM'] ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path)) ?? ''

const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-default-apps',
  '--disable-domain-reliability', '--disable-client-side-phishing-detection', '--no-first-run', '--no-pings', '--disable-features=OptimizationHints,MediaRouter,Translate',
  // Sigma draws with WebGL, which is done in software here.
  // A name of this machine for which there is no HTTPS, as other machines of a network see the server.
  '--host-resolver-rules=MAP insecure.test 127.0.0.1',
  '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
]

export const launch = (): Promise<Browser> => chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS })

/** Opens a page that fails loudly: errors of scripts, and requests to anywhere else, are kept. */
export async function openPage(browser: Browser, root: string, options: BrowserContextOptions & { storage?: Record<string, string> } = {}): Promise<{ page: Page; faults: string[] }> {
  const { storage, ...contextOptions } = options
  const context = await browser.newContext({ viewport: { width: 1360, height: 850 }, locale: 'en-GB', timezoneId: 'Europe/Amsterdam', ...contextOptions })
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(root) && !url.startsWith('data:') && !url.startsWith('blob:')) faults.push(`foreign request: ${url}`)
  })
  if (storage) await page.addInitScript((items) => {
    for (const [name, value] of Object.entries(items)) if (localStorage.getItem(name) === null) localStorage.setItem(name, value)
  }, storage)
  page.setDefaultTimeout(20_000)
  return { page, faults }
}

/** Waits until a page stands still: nothing is being fetched for it, nothing moves, its letters are there. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main, [role=dialog]').first().waitFor()
  await page.waitForFunction(() => {
    const moving = document.getAnimations().some((one) => one.playState === 'running' && one.effect?.getComputedTiming().endTime !== Infinity)
    return !moving && document.fonts.status === 'loaded' && !document.querySelector('[aria-busy="true"], [data-skeleton]')
  })
}
