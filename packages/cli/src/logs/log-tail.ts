import type { LogEntry, LogPage, LogRequest } from '@runyard/contracts';
import type { ControlPlane, LogStream } from '../connection/control-plane.ts';
import { isUnreachable, PlatformRefusedError } from '../connection/refusals.ts';

/** Entries per request; the platform returns at most 1,000. */
const PAGE = 500;

/** Reads a log from its last position, each entry once. */
export class LogTail {
  readonly #controlPlane: ControlPlane;
  readonly #stream: LogStream;
  readonly #filter: LogRequest;
  /** The position after the last entry that was read. */
  #offset: string | undefined;
  /** The start time while there is no offset, and the entries already read at that time, because it is inclusive. */
  #startTime: string | null | undefined;
  #known = new Set<string>();

  constructor(controlPlane: ControlPlane, stream: LogStream, filter: LogRequest = {}) {
    this.#controlPlane = controlPlane;
    this.#stream = stream;
    this.#filter = filter;
    this.#startTime = filter.start_time;
  }

  /**
   * Makes {@link next} begin at the newest entry of all. Without it, a filter that matches nothing would search the
   * whole log each time.
   */
  async mark(): Promise<void> {
    const { logs } = await this.#controlPlane.readLogs(this.#stream, { order: 'desc', limit: 1 });
    this.#startAt(logs[0]);
  }

  /** Returns the newest entries, oldest first; {@link next} continues after them. */
  async last(limit: number): Promise<LogEntry[]> {
    const found: LogEntry[] = [];
    // A page may be short before the end: with a rare match, one request searches only a part of the log.
    for (let offset: string | null = ''; offset !== null && found.length < limit; ) {
      const request: LogRequest = { ...this.#filter, order: 'desc', limit: limit - found.length };
      const page: LogPage = await this.#controlPlane.readLogs(this.#stream, { ...request, ...(offset && { offset }) });
      found.push(...page.logs);
      offset = page.next_offset === offset ? null : page.next_offset;
    }
    this.#startAt(found[0]);
    this.#known = new Set(found.map(({ id }) => id));
    return found.reverse();
  }

  /**
   * Returns all entries since. Entries that were read before the platform became unavailable are not lost: the error
   * comes with the next call.
   */
  async next(): Promise<LogEntry[]> {
    const entries: LogEntry[] = [];
    for (;;) {
      const from = this.#offset === undefined ? { start_time: this.#startTime } : { offset: this.#offset };
      const request: LogRequest = { ...this.#filter, order: 'asc', limit: PAGE, ...from };
      let page: LogPage;
      try {
        page = await this.#controlPlane.readLogs(this.#stream, request);
      } catch (error) {
        if (entries.length === 0) throw error;
        return entries;
      }
      entries.push(...page.logs.filter(({ id }) => !this.#known.has(id)));
      this.#offset = page.next_offset ?? this.#offset;
      if (page.logs.length < PAGE) return entries;
    }
  }

  #startAt(newest: LogEntry | undefined): void {
    const earliest = Date.parse(this.#filter.start_time ?? '');
    if (newest && !(newest.timestamp < earliest)) this.#startTime = new Date(newest.timestamp).toISOString();
  }
}

/** Returns none when the logs are refused or unavailable: a deployment can be awaited without them. */
export async function ignoreMissingLogs(reading: Promise<LogEntry[]>): Promise<LogEntry[]> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof PlatformRefusedError || isUnreachable(error)) return [];
    throw error;
  }
}
