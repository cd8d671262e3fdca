import { defineConfig } from 'vitest/config';

/** Runs the tests that need CopilotKit, which is some 350 packages of 280 MB. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    testTimeout: 60_000,
    // Its packages are fetched.
    hookTimeout: 600_000,
  },
});
