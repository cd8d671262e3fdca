import { defineConfig } from 'vitest/config';

/** What both projects have in common. */
const common = {
  exclude: ['**/node_modules/**', '**/dist/**', '**/generated/**'],
  pool: 'forks' as const,
  testTimeout: 30_000,
  hookTimeout: 60_000,
  teardownTimeout: 20_000,
};

/** Tests of one part each, without a service: they keep nothing outside of themselves. */
const units = [
  'services/*/src/**/*.test.ts',
  'packages/{contracts,database,outbound,sealing,service-kit}/**/*.test.ts',
];

/** Unit and integration tests of every package and service. The whole-system tests have their own config in `e2e/`. */
export default defineConfig({
  test: {
    globalSetup: ['packages/test-kit/src/global-setup.ts'],
    // Most tests wait for processes: three files at once keep two cores busy.
    maxWorkers: 3,
    projects: [
      // Their files share processes: what they import is loaded once, not once for each file, which is most of their time.
      { test: { ...common, name: 'units', include: units, isolate: false } },
      {
        test: {
          ...common,
          name: 'integration',
          include: [
            'packages/**/*.test.ts',
            'services/**/*.test.ts',
            'infra/**/*.test.ts',
            'bench/**/*.test.ts',
            'e2e/parity/coverage.test.ts',
            'e2e/compatibility/**/*.test.ts',
            'e2e/faults/{bench,report,soak}/*.test.ts',
          ],
          exclude: [...common.exclude, ...units],
        },
      },
    ],
  },
});
