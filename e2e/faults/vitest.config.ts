import { defineConfig } from 'vitest/config';
import { hangLimits } from '../../packages/test-kit/src/hang-limit.ts';

/** Runs the fast tier of the fault bench. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    setupFiles: ['../../packages/test-kit/src/processor-time.ts'],
    include: ['fast.test.ts'],
    // Goals wait for more than half of their time, and fail no server that others share: two at once keep two cores
    // busy.
    maxConcurrency: 2,
    ...hangLimits,
  },
});
