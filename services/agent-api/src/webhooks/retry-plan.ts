/** Tries of one delivery at most. */
export const MAX_ATTEMPTS = 8;
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 300_000;
/** What a receiver may ask for by `Retry-After`. */
const LONGEST_ASKED_MS = 3_600_000;
/** From the first pause to the last in the pauses between all tries. */
const GROWTH = (LAST_PAUSE_MS / FIRST_PAUSE_MS) ** (1 / (MAX_ATTEMPTS - 2));

/** Whether an answer means that the same request may be welcome later. */
export function isWorthRetrying(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/**
 * Milliseconds until the next try: from a second to five minutes, a fifth more or less so that receivers that went down
 * together are not asked together. Later when the receiver asks for that. Null after the last try.
 */
export function pauseAfter(attempt: number, retryAfterMs = 0, random: () => number = Math.random): number | null {
  if (attempt >= MAX_ATTEMPTS) return null;
  const pause = Math.min(FIRST_PAUSE_MS * GROWTH ** (attempt - 1), LAST_PAUSE_MS) * (0.8 + 0.4 * random());
  return Math.round(Math.max(pause, Math.min(retryAfterMs, LONGEST_ASKED_MS)));
}

/** `Retry-After` in milliseconds: seconds or a date; 0 when there is none to be understood. */
export function retryAfterMs(header: string | string[] | undefined, now: Date): number {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return 0;
  if (/^\s*\d+\s*$/.test(text)) return Number(text) * 1000;
  const time = Date.parse(text);
  return Number.isNaN(time) ? 0 : Math.max(0, time - now.getTime());
}
