import { defineConfig } from 'vitest/config';

/** Runs the chart in a real cluster. The tests are one story: each continues where the one before ended. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    bail: 1,
    // Each takes long enough that somebody wants to read which it is.
    reporters: ['verbose'],
    // Pods start, images are pulled, and packages fetched.
    testTimeout: 600_000,
    hookTimeout: 1_800_000,
  },
});
