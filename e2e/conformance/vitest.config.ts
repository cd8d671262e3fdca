import { defineConfig } from 'vitest/config';
import { hangLimits } from '../../packages/test-kit/src/hang-limit.ts';

/**
 * Runs public conformance suites against a platform of their own: some of their checks allow half a second for a call,
 * which would have to wait for the requests of other tests.
 */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    globalSetup: ['../harness/global-setup.ts'],
    maxWorkers: 1,
    ...hangLimits,
  },
});
