/** The real server over the offline models, in a folder of its own, with the demo's corpus on wish. */

import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
export const repository = resolve(here, '../..')
const venv = join(repository, '.venv/bin/python')
const python = process.env['PYTHON'] ?? (existsSync(venv) ? venv : 'python3')

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer()
    probe.once('error', fail)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      const port = typeof address === 'object' && address ? address.port : 0
      probe.close(() => done(port))
    })
  })
}

const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds))

export interface Server {
  root: string
  page: (path: string) => string
  stop: () => Promise<void>
  /** Ends the server and starts it again over the same documents, at the same address. */
  restart: (environment?: Record<string, string>) => Promise<Server>
}

export async function startServer(environment: Record<string, string> = {}): Promise<Server> {
  return run(mkdtempSync(join(tmpdir(), 'webui-e2e-')), await freePort(), environment)
}

async function run(folder: string, port: number, environment: Record<string, string>): Promise<Server> {
  let log = ''
  const child: ChildProcess = spawn(python, [join(here, 'serve.py'), folder, String(port)], {
    cwd: repository,
    env: { ...process.env, PYTHONPATH: repository, LIGHTRAG_SCOPE_TAG_PREFIXES: 'known-in-chapter:', LIGHTRAG_KG_SCOPE_MATERIALIZATION: 'true', ...environment },
  })
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part: Buffer) => (log += part.toString()))
  const root = `http://127.0.0.1:${port}`
  const end = async () => {
    const gone = new Promise((done) => child.once('exit', done))
    if (child.exitCode === null) {
      child.kill('SIGTERM')
      await gone
    }
  }
  const stop = async () => {
    await end()
    rmSync(folder, { recursive: true, force: true })
  }
  const restart = async (changed = environment) => {
    await end()
    return run(folder, port, changed)
  }
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`the server ended:\n${log}`)
    const healthy = await fetch(`${root}/health`).then((response) => response.ok, () => false)
    if (healthy) return { root, page: (path) => `${root}/webui/#${path}`, stop, restart }
    await pause(150)
  }
  await stop()
  throw new Error(`the server did not answer:\n${log}`)
}

/** Stores the corpus of the demo, or the part of it below a folder, and waits until it is read. */
export async function readCorpus(root: string, below = ''): Promise<number> {
  const corpus = join(repository, 'demo/corpus')
  const described = JSON.parse(readFileSync(join(corpus, 'metadata.json'), 'utf8')) as Record<string, unknown>
  const paths = Object.keys(described).filter((path) => path.startsWith(below)).sort()
  for (const path of paths) {
    const response = await fetch(`${root}/documents/text`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ text: readFileSync(join(corpus, path), 'utf8'), file_source: path, metadata: described[path] }),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  }
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const { status_counts: counts } = (await (await fetch(`${root}/documents/status_counts`)).json()) as { status_counts: Record<string, number> }
    if (counts['failed']) throw new Error(`${counts['failed']} documents failed`)
    if (counts['processed'] === counts['all'] && (counts['all'] ?? 0) >= paths.length) return paths.length
    await pause(200)
  }
  throw new Error('the corpus was not read in time')
}
