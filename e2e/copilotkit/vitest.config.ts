import { defineConfig } from 'vitest/config';
import { hangLimits } from '../../packages/test-kit/src/hang-limit.ts';

/** Runs the tests that need CopilotKit, which is some 350 packages of 280 MB. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    ...hangLimits,
  },
});
