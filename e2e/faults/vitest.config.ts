import { defineConfig } from 'vitest/config';

/** Runs the fast tier of the fault bench. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['fast.test.ts'],
    // Goals wait for more than half of their time, and fail no server that others share: two at once keep two cores
    // busy.
    maxConcurrency: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
