import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, type ViteUserConfig } from 'vitest/config';
import { hangLimits } from './packages/test-kit/src/hang-limit.ts';
import { createLongestFirstSequencer } from './packages/test-kit/src/longest-first.ts';

/** Starts graph hosts from a bundle, as services do: starting them from sources takes several times as long. */
const bundledGraphHosts: Plugin = {
  name: 'bundled-graph-hosts',
  enforce: 'pre',
  resolveId(source, importer) {
    if (source !== './child-files.ts' || !importer?.includes('/packages/host-client/src/')) return null;
    return fileURLToPath(new URL('packages/test-kit/src/bundles/graph-host-files.ts', import.meta.url));
  },
};

/** Tests beside those of `npm test`: they take minutes, or need a machine of their own. */
export const apart = {
  /** Processor time of single requests, which others on the machine would change. By `npm run test:costs`. */
  costs: '**/*.costs.test.ts',
  /** A real container engine. By `npm run test:containers`. */
  engine: '**/*.engine.test.ts',
  /** Processes killed at many moments. By `npm run test:kills`. */
  kills: '**/*.kills.test.ts',
  /** Data of earlier releases, and earlier releases of libraries. By `npm run test:older`. */
  older: '**/*.older.test.ts',
};
const notTests = ['**/node_modules/**', '**/dist/**', '**/generated/**'];

/**
 * Runs unit and integration tests of every package and service. The whole-system tests have their own config in `e2e/`,
 * and so have those that run apart.
 */
const unit = defineConfig({
  plugins: [bundledGraphHosts],
  test: {
    globalSetup: [
      'packages/test-kit/src/bundles/global-setup.ts',
      'infra/local/test/global-setup.ts',
      'packages/test-kit/src/leftovers.ts',
    ],
    setupFiles: ['packages/test-kit/src/processor-time.ts', 'packages/test-kit/src/load-postgres-clients.ts'],
    include: [
      'packages/**/*.test.ts',
      'services/**/*.test.ts',
      'hosts/**/*.test.ts',
      'infra/**/*.test.ts',
      'bench/**/*.test.ts',
      'e2e/parity/coverage.test.ts',
      'e2e/compatibility/**/*.test.ts',
      'e2e/{harness,kits,pages}/*.test.ts',
      'e2e/faults/{bench,report,soak}/**/*.test.ts',
    ],
    exclude: [...notTests, ...Object.values(apart)],
    pool: 'forks',
    // Files share processes: their imports are loaded once, not once for each file, which was a tenth of all their
    // time.
    isolate: false,
    // Most tests wait for processes: three files at once keep two cores busy.
    maxWorkers: 3,
    sequence: {
      sequencer: createLongestFirstSequencer([
        'platform-data-planes',
        'source-builds',
        'python-builds',
        'drivers',
        'remote-data-plane',
        'rollouts',
        'halts',
        'describe',
        'sign-in',
        'event-bus/src/conformance',
        'gateway/test/events',
        'isolation',
        'outages',
        'kubernetes-projects',
        'remote-projects',
        'loading',
        'encryption',
        'host-suite',
        'infrastructure',
      ]),
    },
    ...hangLimits,
  },
});
export default unit;

/** Runs the files of these patterns alone, with what the tests of `npm test` have, and further settings. */
export function runApart(include: string[], settings: ViteUserConfig['test'] = {}) {
  return defineConfig({
    ...unit,
    root: fileURLToPath(new URL('.', import.meta.url)),
    test: { ...unit.test, include, exclude: notTests, ...settings },
  });
}
