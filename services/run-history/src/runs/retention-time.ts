export const DAY_MS = 86_400_000;

/** Returns the time, in milliseconds since 1970, before which runs are not kept. */
export function oldestKept(retentionDays: number): number {
  return Date.now() - retentionDays * DAY_MS;
}
