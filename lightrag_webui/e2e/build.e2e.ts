import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { repository } from './server'

it('serves compressed exactly what it serves plain', () => {
  const assets = join(repository, 'lightrag/api/webui/assets')
  const copies = readdirSync(assets).filter((name) => name.endsWith('.gz'))
  expect(copies.length).toBeGreaterThan(10)
  for (const name of copies) expect(gunzipSync(readFileSync(join(assets, name))).equals(readFileSync(join(assets, name.slice(0, -3)))), name).toBe(true)
})
