import { setTimeout as pause } from 'node:timers/promises';
import { HANGS_AFTER_MS } from './hang-limit.ts';

/**
 * Milliseconds between two checks: a tenth of the time waited so far, so that long waits cost little and none lasts
 * much too long.
 */
const SHORTEST_MS = 15;
const LONGEST_MS = 150;

/**
 * Waits until `condition` returns a truthy value and returns it. A condition that throws counts as "not yet"; after the
 * time limit, the last error is the cause of the one thrown here. With `intervalMs` it checks at that pace.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  options: { timeoutMs?: number; intervalMs?: number; what?: string } = {},
): Promise<Exclude<T, undefined | null | false | '' | 0>> {
  const { timeoutMs = HANGS_AFTER_MS, intervalMs, what = 'the condition' } = options;
  const begun = Date.now();
  let lastError: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value as Exclude<T, undefined | null | false | '' | 0>;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    const waitedMs = Date.now() - begun;
    if (waitedMs >= timeoutMs) throw new Error(`${what} did not hold within ${timeoutMs} ms`, { cause: lastError });
    await pause(intervalMs ?? Math.min(Math.max(waitedMs / 10, SHORTEST_MS), LONGEST_MS));
  }
}
