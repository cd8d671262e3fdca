import { defineConfig } from 'vitest/config';

/** Runs the tests that need Arize Phoenix, which is some hundred Python packages. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    testTimeout: 60_000,
    // Its packages are fetched.
    hookTimeout: 600_000,
  },
});
