import type { LogEntry, LogLevel, LogPage, LogRequest } from '@runyard/contracts';
import { LINES_MAX, mergeLines } from './log-lines.ts';

const PAGE = 1_000;
const POLL_MS = 700;
const BACKOFF_MAX_MS = 10_000;
/** The last lines of what has ended are told a moment later than its end. */
const POLLS_AFTER_END = 3;

export interface LogFilter {
  level?: LogLevel | undefined;
  query?: string | undefined;
}

export interface LogSnapshot {
  /** Oldest first. */
  entries: readonly LogEntry[];
  /** `loading` until the first lines are there; `ended`: no line comes any more. */
  phase: 'loading' | 'live' | 'paused' | 'ended';
  /** True if older lines can be read. */
  hasOlder: boolean;
  isReadingOlder: boolean;
  /** True if there are as many lines as memory holds. */
  isFull: boolean;
  /** The fault of the last request; lines that were read stay. */
  error?: unknown;
}

type ReadPage = (request: LogRequest, signal: AbortSignal) => Promise<LogPage>;

/**
 * Reads a log: its newest lines first, then what is new every 700 ms, by the cursor of the platform, and older lines on
 * request. Every line is there once and in order. Faults of the platform are shown, and reading goes on.
 */
export class LogReader {
  readonly #read: ReadPage;
  readonly #filter: LogFilter;
  readonly #first: number;
  readonly #listeners = new Set<() => void>();
  #snapshot: LogSnapshot = {
    entries: [],
    phase: 'loading',
    hasOlder: false,
    isReadingOlder: false,
    isFull: false,
  };
  #stopped = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The position after the last line that was read, and until there is one, the time of that line. */
  #newer: { offset: string } | { start_time: string } | undefined;
  #older: { offset: string } | { end_time: string } | undefined;
  #pollsLeft = Number.POSITIVE_INFINITY;
  #failures = 0;

  /** @param options.first How many lines are read at first */
  constructor(read: ReadPage, filter: LogFilter = {}, { first = PAGE }: { first?: number } = {}) {
    this.#read = read;
    this.#filter = filter;
    this.#first = first;
  }

  readonly snapshot = (): LogSnapshot => this.#snapshot;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Begins to read; {@link stop} ends that, and it may be started again. */
  start(): void {
    this.#stopped = new AbortController();
    this.#schedule(0);
  }

  stop(): void {
    this.#stopped.abort();
    clearTimeout(this.#timer);
  }

  /** Says that what prints the log goes on, or has ended, after which only the last lines are read. */
  setLive(isLive: boolean): void {
    this.#pollsLeft = isLive ? Number.POSITIVE_INFINITY : Math.min(this.#pollsLeft, POLLS_AFTER_END);
    if (isLive && this.#snapshot.phase === 'ended') this.resume();
  }

  pause(): void {
    if (this.#snapshot.phase !== 'live') return;
    clearTimeout(this.#timer);
    this.#change({ phase: 'paused' });
  }

  /** Goes on with the lines that came meanwhile. */
  resume(): void {
    if (this.#snapshot.phase !== 'paused' && this.#snapshot.phase !== 'ended') return;
    this.#change({ phase: 'live' });
    this.#schedule(0);
  }

  /** Asks again at once, for example after a fault. */
  retry(): void {
    this.#schedule(0);
  }

  async readOlder(): Promise<void> {
    const { hasOlder, isReadingOlder, isFull, entries } = this.#snapshot;
    if (!hasOlder || isReadingOlder || isFull) return;
    const from = this.#older ?? (entries[0] && { end_time: timeOf(entries[0]) });
    if (!from) return;
    const { signal } = this.#stopped;
    this.#change({ isReadingOlder: true });
    try {
      const page = await this.#read({ ...this.#request('desc'), ...from }, signal);
      this.#older = page.next_offset === null ? undefined : { offset: page.next_offset };
      this.#add(page.logs, { isReadingOlder: false, hasOlder: page.next_offset !== null, error: undefined });
    } catch (error) {
      if (!signal.aborted) this.#change({ isReadingOlder: false, error });
    }
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    const { signal } = this.#stopped;
    this.#timer = setTimeout(() => void this.#poll(signal), delayMs);
  }

  async #poll(signal: AbortSignal): Promise<void> {
    try {
      if (this.#snapshot.phase === 'loading') await this.#readFirst(signal);
      else await this.#readNewer(signal);
      this.#failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      this.#failures += 1;
      this.#change({ error });
    }
    if (signal.aborted || this.#snapshot.phase === 'paused') return;
    if (this.#failures === 0) this.#pollsLeft -= 1;
    if (this.#pollsLeft <= 0) this.#change({ phase: 'ended' });
    else this.#schedule(Math.min(POLL_MS * 2 ** this.#failures, this.#failures === 0 ? POLL_MS : BACKOFF_MAX_MS));
  }

  async #readFirst(signal: AbortSignal): Promise<void> {
    // A filter that nothing matches would otherwise search the whole log with every request.
    const newest = await this.#read({ order: 'desc', limit: 1 }, signal);
    const page = await this.#read({ ...this.#request('desc'), limit: this.#first }, signal);
    const last = newest.logs[0] ?? page.logs[0];
    if (last) this.#newer = { start_time: timeOf(last) };
    this.#older = page.next_offset === null ? undefined : { offset: page.next_offset };
    this.#add(page.logs, { phase: 'live', hasOlder: page.next_offset !== null, error: undefined });
  }

  async #readNewer(signal: AbortSignal): Promise<void> {
    for (;;) {
      const page = await this.#read({ ...this.#request('asc'), ...this.#newer }, signal);
      const hasMore = page.next_offset !== null && page.next_offset !== offsetOf(this.#newer) && page.logs.length > 0;
      if (page.next_offset !== null) this.#newer = { offset: page.next_offset };
      this.#add(page.logs, { error: undefined });
      if (!hasMore || page.logs.length < PAGE) return;
    }
  }

  #request(order: 'asc' | 'desc'): LogRequest {
    const { level, query } = this.#filter;
    return { order, limit: PAGE, ...(level && { level }), ...(query && { query }) };
  }

  #add(page: readonly LogEntry[], change: Partial<LogSnapshot>): void {
    const { entries, added, hasDropped } = mergeLines(this.#snapshot.entries, page);
    // The cursor of older lines would leave out those that went.
    if (hasDropped) this.#older = undefined;
    const hasOlder = hasDropped || (change.hasOlder ?? this.#snapshot.hasOlder);
    const next = { ...change, entries, hasOlder, isFull: entries.length >= LINES_MAX };
    const isSame = added === 0 && Object.entries(next).every(([name, value]) => this.#has(name, value));
    if (!isSame) this.#change(next);
  }

  #has(name: string, value: unknown): boolean {
    return this.#snapshot[name as keyof LogSnapshot] === value;
  }

  #change(change: Partial<LogSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    for (const listener of this.#listeners) listener();
  }
}

function timeOf({ timestamp }: LogEntry): string {
  return new Date(timestamp).toISOString();
}

function offsetOf(from: { offset: string } | { start_time: string } | undefined): string | undefined {
  return from && 'offset' in from ? from.offset : undefined;
}
