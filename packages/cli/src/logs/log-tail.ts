import type { LogEntry, LogRequest } from '@runyard/contracts';
import type { ControlPlane, LogStream } from '../connection/control-plane.ts';
import { isUnreachable, Refusal } from '../connection/refusals.ts';

/** Entries per request; the platform gives no more than 1,000. */
const PAGE = 500;

/** Reads a log from where it left off, each entry once. */
export class LogTail {
  readonly #controlPlane: ControlPlane;
  readonly #stream: LogStream;
  readonly #filter: LogRequest;
  /** After the last entry that was read. */
  #offset: string | undefined;
  /** Where to begin as long as there is no offset, and what was read of that already: the time is inclusive. */
  #startTime: string | null | undefined;
  #known = new Set<string>();

  constructor(controlPlane: ControlPlane, stream: LogStream, filter: LogRequest = {}) {
    this.#controlPlane = controlPlane;
    this.#stream = stream;
    this.#filter = filter;
    this.#startTime = filter.start_time;
  }

  /** The newest entries, oldest first; {@link next} goes on after them. */
  async last(limit: number): Promise<LogEntry[]> {
    const { logs } = await this.#controlPlane.readLogs(this.#stream, { ...this.#filter, order: 'desc', limit });
    const [newest] = logs;
    if (newest) this.#startTime = new Date(newest.timestamp).toISOString();
    this.#known = new Set(logs.map(({ id }) => id));
    return logs.reverse();
  }

  /** Everything since. */
  async next(): Promise<LogEntry[]> {
    const entries: LogEntry[] = [];
    for (;;) {
      const from = this.#offset === undefined ? { start_time: this.#startTime } : { offset: this.#offset };
      const request: LogRequest = { ...this.#filter, order: 'asc', limit: PAGE, ...from };
      const { logs, next_offset: offset } = await this.#controlPlane.readLogs(this.#stream, request);
      entries.push(...logs.filter(({ id }) => !this.#known.has(id)));
      this.#offset = offset ?? this.#offset;
      if (logs.length < PAGE) return entries;
    }
  }
}

/** None where the logs are refused or away: one waits for a deployment without them. */
export async function orNone(reading: Promise<LogEntry[]>): Promise<LogEntry[]> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Refusal || isUnreachable(error)) return [];
    throw error;
  }
}
