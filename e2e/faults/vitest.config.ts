import { defineConfig } from 'vitest/config';

/** The fast tier of the fault bench: one goal after the other. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['fast.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
