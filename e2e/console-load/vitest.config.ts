import { defineConfig } from 'vitest/config';

/** A test fills a database with a million threads. */
const LIMIT_MS = 600_000;

/** Measures pages of the console, in a real browser, on much more than a person has. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    globalSetup: ['global-setup.ts'],
    include: ['*.test.ts'],
    // One test takes the time that another measures.
    maxWorkers: 1,
    testTimeout: LIMIT_MS,
    hookTimeout: LIMIT_MS,
  },
});
