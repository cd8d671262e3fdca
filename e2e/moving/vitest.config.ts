import { defineConfig } from 'vitest/config';

/** A test fills a server with thousands of threads and moves them, which takes minutes. */
const LIMIT_MS = 3_600_000;

/** Moves many threads between the platform and public servers of both languages. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['moving.test.ts'],
    maxWorkers: 1,
    testTimeout: LIMIT_MS,
    hookTimeout: LIMIT_MS,
  },
});
