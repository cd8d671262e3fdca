import { defineConfig } from 'vitest/config';

/** Runs the tests that need a real container engine. They are one story: each continues where the one before ended. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    bail: 1,
    // Images are built, and packages fetched.
    testTimeout: 600_000,
    hookTimeout: 1_200_000,
  },
});
