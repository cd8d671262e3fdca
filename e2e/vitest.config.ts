import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['tests/**/*.test.ts', 'parity/{fields,statuses}.test.ts'],
    globalSetup: ['harness/global-setup.ts'],
    // Files share one platform and two cores; a file that starts a platform of its own goes beside one that does not.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
});
