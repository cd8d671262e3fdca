import type { ThreadTtl } from './types.ts';

/** Returns SQL for a thread's expiry in that many minutes from this transaction on; null without minutes. */
export function expiryIn(minutes: string): string {
  return `now() + make_interval(secs => (${minutes}) * 60)`;
}

/**
 * SQL for the expiry of thread `t` after a change of its state: pruning counts from the change, deletion keeps its
 * time.
 */
export const EXPIRY_AFTER_CHANGE = `CASE WHEN t.ttl_strategy = 'keep_latest' THEN ${expiryIn('t.ttl_minutes')}
                                         ELSE t.expires_at END`;

/** Returns the two columns of a ttl as parameters. */
export function ttlParameters(ttl: ThreadTtl | undefined): [strategy: string | null, minutes: number | null] {
  return [ttl?.strategy ?? null, ttl?.minutes ?? null];
}
