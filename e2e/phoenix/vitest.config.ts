import { defineConfig } from 'vitest/config';
import { hangLimits } from '../../packages/test-kit/src/hang-limit.ts';

/** Runs the tests that need Arize Phoenix, which is some hundred Python packages. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    ...hangLimits,
  },
});
