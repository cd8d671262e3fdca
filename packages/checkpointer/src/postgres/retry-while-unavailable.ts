import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from '@runyard/database';

const PAUSE_MS = 50;
const PAUSE_MS_MAX = 1_000;

/** Repeats work, which must be safe to repeat, while Postgres is unavailable, for at most `retryMs`; 0 tries once. */
export async function retryWhileUnavailable<T>(retryMs: number, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + retryMs;
  for (let waitMs = PAUSE_MS; ; waitMs = Math.min(2 * waitMs, PAUSE_MS_MAX)) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() + waitMs > until) throw error;
      await pause(waitMs);
    }
  }
}
