/**
 * How long runs wait whose encryption key is not to be had. A worker leaves a key that it failed to get out of its
 * claims for longer than such a run waits, so that others get the run first.
 */
export const KEY_WAITS = {
  /** Milliseconds for which a worker claims no run of a key that it failed to get. */
  leftOutMs: 10_000,
  /** Milliseconds until a run is claimed again of which nothing was executed. */
  retryMs: 5_000,
  /**
   * A run that was executed in part repeats work with each attempt: it waits for this share of the time for which its
   * key has been missing, within these limits. A day takes some 90 attempts.
   */
  executed: { share: 0.25, minMs: 10_000, maxMs: 1_200_000 },
} as const;

/** Returns the milliseconds until a run is claimed again. @param missingForMs since its key was first missed */
export function keyRetryMs(awaitsKey: 'beforeExecution' | 'duringExecution', missingForMs: number): number {
  if (awaitsKey === 'beforeExecution') return KEY_WAITS.retryMs;
  const { share, minMs, maxMs } = KEY_WAITS.executed;
  return Math.min(maxMs, Math.max(minMs, missingForMs * share));
}
