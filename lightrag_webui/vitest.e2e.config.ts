import { defineConfig } from 'vitest/config'

// A real browser, a real server: one file after the other, each with a server of its own.
export default defineConfig({
  test: { environment: 'node', include: ['e2e/**/*.e2e.ts'], testTimeout: 90_000, hookTimeout: 120_000, fileParallelism: false },
})
