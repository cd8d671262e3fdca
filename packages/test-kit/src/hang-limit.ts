/**
 * Milliseconds after which a wait within a test counts as hanging. One number for all, so long that no machine is too
 * slow or too busy for it: a limit finds what hangs, and never measures. What a promise allows in seconds is measured by
 * the fault bench and by `bench/`.
 */
export const HANGS_AFTER_MS = 240_000;

/** The same for vitest, as options of `test`. A test outlives one wait that hangs, which says what was waited for. */
export const hangLimits = {
  testTimeout: 2.5 * HANGS_AFTER_MS,
  hookTimeout: 2.5 * HANGS_AFTER_MS,
  teardownTimeout: HANGS_AFTER_MS,
  expect: { poll: { timeout: HANGS_AFTER_MS } },
};
