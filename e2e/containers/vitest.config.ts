import { apart, runApart } from '../../vitest.config.ts';

/**
 * Runs the tests that need a real container engine, one file at a time: each compares what the engine has before and
 * after. Within a file they are one story: each continues where the one before ended.
 */
export default runApart(['e2e/containers/*.test.ts', apart.engine], {
  maxWorkers: 1,
  bail: 1,
  // Images are built, and packages fetched.
  testTimeout: 600_000,
  hookTimeout: 1_200_000,
});
