import { defineConfig } from 'vitest/config';

/** What takes a real container engine. Its tests are one story: each goes on where the one before ended. */
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
