/// <reference types="vitest/config" />
import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const server = process.env['LIGHTRAG_SERVER'] ?? 'http://127.0.0.1:9621'
const API_PATHS = ['/documents', '/query', '/graph', '/health', '/auth', '/login', '/openapi.json', '/docs', '/static', '/ui']

export default defineConfig({
  // The built page is served below any prefix: addresses of its files are relative, and its own routes live after '#'.
  base: './',
  plugins: [react(), tailwindcss()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    outDir: '../lightrag/api/webui',
    emptyOutDir: true,
    target: 'es2022',
    chunkSizeWarningLimit: 900,
  },
  server: { proxy: Object.fromEntries(API_PATHS.map((path) => [path, { target: server, changeOrigin: true }])) },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['./src/test-setup.ts'],
    restoreMocks: true,
  },
})
