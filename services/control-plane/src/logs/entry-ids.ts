import { v7 as uuidv7 } from 'uuid';

/** How far the times of entries may run ahead of the clock. */
const LEAD_MS = 1_000;

/**
 * Ids of the entries of one log, as one process writes it: UUIDs of version 7, each greater than the one before. A burst is
 * spread over the milliseconds that follow, one entry each, as far as the lead goes: whoever follows a log asks for everything
 * since the time of the last entry, so many at a time. Where a millisecond holds more, pages are as long as it takes (`readLogs`).
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

/** When an entry was written, out of its id (milliseconds since 1970). */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** Every id of this millisecond or a later one is greater, every other one is less. */
export function idsFrom(ms: number): string {
  const digits = Math.min(Math.max(ms, 0), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
