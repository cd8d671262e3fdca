const HOUR_MS = 3_600_000;
/** Milliseconds after each failed try: two days in all, the first ones for a restart and the last for a weekend. */
const PAUSES_MS = [
  ...[1_000, 3_000, 10_000, 30_000, 120_000, 600_000, 1_800_000],
  ...[1, 2, 4, 8, 12, 20].map((hours) => hours * HOUR_MS),
];
/** The most tries of one delivery. */
export const MAX_ATTEMPTS = PAUSES_MS.length + 1;
/** The longest `Retry-After` that a receiver gets. */
const LONGEST_ASKED_MS = HOUR_MS;
/** For what cannot be decrypted for the moment: the pauses of the first minutes and of later, and their end. */
const POSTPONED = { firstMs: 60_000, laterMs: 600_000, endsMs: 72 * HOUR_MS };

/** Returns whether an answer means that the same request may be welcome later. */
export function isWorthRetrying(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/**
 * Returns the milliseconds until the next try: from a second to twenty hours, a fifth more or less so that receivers
 * that went down together are not called together. Later when the receiver asks for that. Null after the last try.
 */
export function pauseAfter(attempt: number, retryAfterMs = 0, random: () => number = Math.random): number | null {
  const planned = PAUSES_MS[attempt - 1];
  if (planned === undefined) return null;
  const pause = planned * (0.8 + 0.4 * random());
  return Math.round(Math.max(pause, Math.min(retryAfterMs, LONGEST_ASKED_MS)));
}

/** Returns the milliseconds until a delivery is looked at again whose key is away; null when it waited for too long. */
export function postponeFor(waitedMs: number): number | null {
  if (waitedMs >= POSTPONED.endsMs) return null;
  return waitedMs < POSTPONED.laterMs ? POSTPONED.firstMs : POSTPONED.laterMs;
}

/** Parses `Retry-After`, seconds or a date, into milliseconds; 0 when it is missing or invalid. */
export function retryAfterMs(header: string | string[] | undefined, now: Date): number {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return 0;
  if (/^\s*\d+\s*$/.test(text)) return Number(text) * 1000;
  const time = Date.parse(text);
  return Number.isNaN(time) ? 0 : Math.max(0, time - now.getTime());
}
