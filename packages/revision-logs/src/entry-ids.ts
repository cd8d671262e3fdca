import { v7 as uuidv7 } from 'uuid';

/** Milliseconds that the times of entries may be ahead of the clock. */
const LEAD_MS = 1_000;

/**
 * Makes the ids of one log's entries within a process: UUIDs of version 7, each greater than the one before. A burst is
 * spread over the following milliseconds, one entry each, up to the lead: clients that follow a log ask page by page
 * for everything since the time of the last entry. Where a millisecond has several entries, pages exceed their limit as
 * far as needed (`readLogs`).
 */
export class EntryIds {
  #ms = 0;
  #sequence = 0;

  next(now = Date.now()): string {
    if (now > this.#ms || this.#ms + 1 - now <= LEAD_MS) {
      this.#ms = Math.max(now, this.#ms + 1);
      this.#sequence = 0;
    } else {
      this.#sequence += 1;
    }
    return uuidv7({ msecs: this.#ms, seq: this.#sequence });
  }
}

/** Returns the time in an entry's id, in milliseconds since 1970. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** Returns a text that is less than every id of this millisecond or later, and greater than all earlier ids. */
export function idsFrom(ms: number): string {
  const digits = Math.min(Math.max(ms, 0), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
