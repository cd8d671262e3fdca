import { defineConfig } from 'vitest/config';
import { hangLimits } from '../../packages/test-kit/src/hang-limit.ts';

/**
 * Runs public conformance suites. Some of their checks allow half a second for a call, so that nothing else runs
 * beside them.
 */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    globalSetup: ['../harness/global-setup.ts'],
    include: ['*.test.ts'],
    maxWorkers: 1,
    ...hangLimits,
  },
});
