import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import unit, { killTests, notTests } from '../../vitest.config.ts';

/** Runs the tests of packages and services that kill processes at every step, or at many moments. */
export default defineConfig({
  ...unit,
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: { ...unit.test, include: [killTests], exclude: notTests },
});
