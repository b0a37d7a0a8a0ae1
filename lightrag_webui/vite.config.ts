/// <reference types="vitest/config" />
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const server = process.env['LIGHTRAG_SERVER'] ?? 'http://127.0.0.1:9621'
const API_PATHS = ['/documents', '/query', '/graph', '/health', '/auth', '/login', '/openapi.json', '/docs', '/static', '/ui']

/** Puts a compressed copy beside every text file, so that the server need not compress while it serves. */
function compressedCopies(): Plugin {
  return {
    name: 'compressed-copies',
    apply: 'build',
    // From the files as they were written: while the bundle is made, others still put things into it.
    writeBundle({ dir }, bundle) {
      if (!dir) return
      for (const fileName of Object.keys(bundle)) {
        if (!/\.(js|css|svg|json)$/.test(fileName)) continue
        const file = join(dir, fileName)
        writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
      }
    },
  }
}

/** Every browser that can show these pages reads woff2; the formula fonts need no other form. */
function onlyWoff2(): Plugin {
  return {
    name: 'only-woff2',
    enforce: 'pre',
    transform: (code, id) => (/katex.*\.css/.test(id) ? code.replace(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\([^)]*\)/g, '') : undefined),
  }
}

export default defineConfig({
  // The built page is served below any prefix: addresses of its files are relative, and its own routes live after '#'.
  base: './',
  plugins: [react(), tailwindcss(), onlyWoff2(), compressedCopies()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    outDir: '../lightrag/api/webui',
    emptyOutDir: true,
    target: 'es2022',
    chunkSizeWarningLimit: 900,
    manifest: true,
  },
  server: { proxy: Object.fromEntries(API_PATHS.map((path) => [path, { target: server, changeOrigin: true }])) },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['./src/test-setup.ts'],
    restoreMocks: true,
  },
})
