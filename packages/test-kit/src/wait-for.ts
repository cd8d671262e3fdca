import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits until `condition` gives a truthy value and returns it. A condition that throws counts as "not yet"; when the time
 * is over, the last error is the cause of the one thrown here.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  options: { timeoutMs?: number; intervalMs?: number; what?: string } = {},
): Promise<Exclude<T, undefined | null | false | '' | 0>> {
  const { timeoutMs = 10_000, intervalMs = 15, what = 'the condition' } = options;
  const deadline = Date.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value as Exclude<T, undefined | null | false | '' | 0>;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() >= deadline) throw new Error(`${what} did not hold within ${timeoutMs} ms`, { cause: lastError });
    await pause(intervalMs);
  }
}
