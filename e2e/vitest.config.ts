import { defineConfig } from 'vitest/config';
import { hangLimits } from '../packages/test-kit/src/hang-limit.ts';
import { createLongestFirstSequencer } from '../packages/test-kit/src/longest-first.ts';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    globalSetup: ['harness/global-setup.ts'],
    sequence: {
      sequencer: createLongestFirstSequencer([
        'python-sdk',
        'deploy-cli/python',
        'restart',
        'templates',
        'deploy-cli/javascript',
        'fields',
        'access-matrix',
        'runyard-cli',
        'deployments',
        'listeners',
      ]),
    },
    setupFiles: ['../packages/test-kit/src/processor-time.ts'],
    include: ['tests/**/*.test.ts', 'parity/{fields,statuses}.test.ts'],
    // Files wait more than they compute: three at once keep two cores busy.
    maxWorkers: 3,
    // Their imports are loaded once, not once for each file.
    pool: 'forks',
    isolate: false,
    ...hangLimits,
  },
});
