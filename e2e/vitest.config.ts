import { defineConfig } from 'vitest/config';
import { hangLimits } from '../packages/test-kit/src/hang-limit.ts';
import { createLongestFirstSequencer } from '../packages/test-kit/src/longest-first.ts';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    // Both projects share one platform.
    globalSetup: ['harness/global-setup.ts'],
    sequence: {
      sequencer: createLongestFirstSequencer([
        'python-sdk',
        'deploy-cli/python',
        'restart',
        'deploy-cli/javascript',
        'fields',
        'access-matrix',
        'runyard-cli',
        'deployments',
        'listeners',
      ]),
    },
    teardownTimeout: hangLimits.teardownTimeout,
    projects: [
      {
        test: {
          name: 'e2e',
          include: ['tests/**/*.test.ts', 'parity/{fields,statuses}.test.ts'],
          // Files wait more than they compute: three at once keep two cores busy.
          maxWorkers: 3,
          // Their imports are loaded once, not once for each file.
          pool: 'forks',
          isolate: false,
          ...hangLimits,
        },
      },
      {
        test: {
          // Some checks of public conformance suites allow half a second for a call, which would have to wait for the
          // requests of other tests: they begin when those have ended.
          name: 'conformance',
          include: ['conformance/*.test.ts'],
          sequence: { groupOrder: 1 },
          maxWorkers: 1,
          ...hangLimits,
        },
      },
    ],
  },
});
