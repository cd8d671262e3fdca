import { defineConfig } from 'vitest/config';
import { hangLimits } from '../../packages/test-kit/src/hang-limit.ts';

/** Runs the tests that need PgBouncer, a package of the system. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    globalSetup: ['../../packages/test-kit/src/bundles/global-setup.ts', '../../infra/local/test/global-setup.ts'],
    ...hangLimits,
  },
});
