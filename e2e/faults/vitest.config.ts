import { defineConfig } from 'vitest/config';

/** The fast tier of the fault bench: alone on the machine, since it measures times. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['fast.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
