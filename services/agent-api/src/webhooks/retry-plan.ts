/** The most tries of one delivery. */
export const MAX_ATTEMPTS = 8;
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 300_000;
/** The longest `Retry-After` that a receiver gets. */
const LONGEST_ASKED_MS = 3_600_000;
/** The factor that grows the first pause to the last over the pauses between all tries. */
const GROWTH = (LAST_PAUSE_MS / FIRST_PAUSE_MS) ** (1 / (MAX_ATTEMPTS - 2));

/** Returns whether an answer means that the same request may be welcome later. */
export function isWorthRetrying(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/**
 * Returns the milliseconds until the next try: from a second to five minutes, a fifth more or less so that receivers
 * that went down together are not called together. Later when the receiver asks for that. Null after the last try.
 */
export function pauseAfter(attempt: number, retryAfterMs = 0, random: () => number = Math.random): number | null {
  if (attempt >= MAX_ATTEMPTS) return null;
  const pause = Math.min(FIRST_PAUSE_MS * GROWTH ** (attempt - 1), LAST_PAUSE_MS) * (0.8 + 0.4 * random());
  return Math.round(Math.max(pause, Math.min(retryAfterMs, LONGEST_ASKED_MS)));
}

/** Parses `Retry-After`, seconds or a date, into milliseconds; 0 when it is missing or invalid. */
export function retryAfterMs(header: string | string[] | undefined, now: Date): number {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return 0;
  if (/^\s*\d+\s*$/.test(text)) return Number(text) * 1000;
  const time = Date.parse(text);
  return Number.isNaN(time) ? 0 : Math.max(0, time - now.getTime());
}
