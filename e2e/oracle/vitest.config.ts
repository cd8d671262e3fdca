import { defineConfig } from 'vitest/config';
import { hangLimits } from '../../packages/test-kit/src/hang-limit.ts';

/** Compares the platform with the public Python server, which it installs from PyPI. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['oracle.test.ts'],
    maxWorkers: 1,
    ...hangLimits,
  },
});
