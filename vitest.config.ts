import { defineConfig } from 'vitest/config';

/** Unit and integration tests of every package and service. The whole-system tests have their own config in `e2e/`. */
export default defineConfig({
  test: {
    include: [
      'packages/**/*.test.ts',
      'services/**/*.test.ts',
      'infra/**/*.test.ts',
      'bench/**/*.test.ts',
      'e2e/parity/coverage.test.ts',
      'e2e/compatibility/**/*.test.ts',
      'e2e/faults/{bench,report,soak}/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/dist/**', '**/generated/**'],
    globalSetup: ['packages/test-kit/src/global-setup.ts'],
    pool: 'forks',
    // Most tests wait for processes: three files at once keep two cores busy.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
  },
});
