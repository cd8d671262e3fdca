import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import unit, { apart, notTests } from '../../vitest.config.ts';

/**
 * Runs the tests that need a real container engine, one file at a time: each compares what the engine has before and
 * after. Within a file they are one story: each continues where the one before ended.
 */
export default defineConfig({
  ...unit,
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    ...unit.test,
    include: ['e2e/containers/*.test.ts', apart.engine],
    exclude: notTests,
    maxWorkers: 1,
    bail: 1,
    // Images are built, and packages fetched.
    testTimeout: 600_000,
    hookTimeout: 1_200_000,
  },
});
