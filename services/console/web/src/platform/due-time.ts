/** Something that is due has come about so long after its time. */
const GRACE_MS = 2_000;
/** Timers of browsers reach no further. */
const MAX_MS = 2 ** 31 - 1;

/**
 * Returns the milliseconds after which to ask again for what comes about at the earliest of `times`; false where nothing
 * is to come. What is overdue is asked for at growing intervals.
 */
export function msUntilDue(times: readonly (string | null | undefined)[], now: number): number | false {
  const moments = times.flatMap((time) => (time ? [Date.parse(time)] : []));
  if (moments.length === 0) return false;
  const left = Math.min(...moments) - now;
  return Math.min(left >= 0 ? left + GRACE_MS : Math.max(GRACE_MS, -left), MAX_MS);
}
