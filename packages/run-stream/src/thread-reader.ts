import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { LiveBatch } from './entry-codec.ts';
import { BEFORE_ALL, compareIds, parseEventId } from './event-id.ts';
import { LiveBuffer, type ReaderLimits } from './live-buffer.ts';
import type { FeedListener } from './live-feeds.ts';
import { findMissingUpTo, type RangePage } from './range-page.ts';
import type { ReadBudget } from './read-budget.ts';
import { gapAfter } from './stream-gap.ts';
import { CONTROL_KINDS, type ReadOptions, type StreamEntry, type StreamGap } from './types.ts';

export interface ReaderSource {
  range(threadId: string, after: string, runId: string, maxBytes: number): Promise<RangePage>;
  /** Loads what is needed to decode the entries; undefined when there is nothing to wait for. */
  prepare(entries: RangePage['entries']): Promise<void> | undefined;
  decode(id: string, text: string): StreamEntry;
  join(threadId: string, listener: FeedListener): void;
  leave(threadId: string, listener: FeedListener): void;
  /** Is called when the reader gets a gap. */
  onGap?(reason: StreamGap['reason']): void;
}

const OUTAGE_PAUSE_MS = 200;
/** Milliseconds for which the stream of an ended run waits for Redis. */
const DRAIN_MS = 2_000;

/**
 * Reads one thread's stream for one client: subscribes first, then reads the range from the client's position, then
 * goes on live and drops entries that were read. Whenever the live batches do not continue the entries that were read
 * (the connection was lost, or the client is so slow that its buffer overflowed), it reads the range again. Memory is
 * thus limited and nothing is missed silently.
 */
export class ThreadReader implements FeedListener {
  readonly #source: ReaderSource;
  readonly #threadId: string;
  readonly #runId: string;
  readonly #signal: AbortSignal | undefined;
  readonly #drainSignal: AbortSignal | undefined;
  readonly #budget: ReadBudget;
  readonly #live: LiveBuffer;
  /** The last id that was read; undefined until the first range has set the client's position. */
  #position: string | undefined;
  readonly #after: string;
  #isSubscribed = false;
  /** True when live batches do not continue what was read: a range must be read. */
  #isBehind = true;
  /**
   * True when the connection was lost and the stream not read since: a stream that starts over may have lost entries.
   */
  #isUncertain = false;
  /** True when the client got the gap for an emptied Redis. */
  #hasReportedEmptied = false;
  #wake: (() => void) | undefined;

  constructor(source: ReaderSource, threadId: string, options: ReadOptions, limits: ReaderLimits) {
    this.#source = source;
    this.#threadId = threadId;
    this.#runId = options.runId ?? '';
    this.#signal = options.signal;
    this.#drainSignal = options.drainSignal;
    this.#budget = limits.budget;
    this.#live = new LiveBuffer(limits);
    this.#after = parsePosition(options.afterId);
  }

  /** Approximate memory of live batches that wait for the client. */
  get waitingBytes(): number {
    return this.#live.bytes;
  }

  onSubscribed(isAgain: boolean): void {
    this.#isSubscribed = true;
    this.#isBehind = true;
    if (isAgain) this.#isUncertain = true;
    this.#wake?.();
  }

  onBatch(batch: LiveBatch): void {
    if (!this.#live.push(batch)) this.#isBehind = true;
    this.#wake?.();
  }

  async *entries(): AsyncGenerator<StreamEntry, void, undefined> {
    const wake = () => this.#wake?.();
    const signals = [this.#signal, this.#drainSignal].filter((signal) => signal !== undefined);
    for (const signal of signals) {
      // One signal may end any number of readers, which is no leak.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', wake, { once: true });
    }
    this.#source.join(this.#threadId, this);
    try {
      while (!this.#isAborted) {
        if (this.#isDraining) {
          yield* this.#drain();
          return;
        }
        if (this.#isSubscribed && this.#isBehind) yield* this.#catchUp();
        else if (this.#isSubscribed && !this.#live.isEmpty) yield* this.#takeBatch();
        else await this.#nextWake();
      }
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', wake);
      this.#source.leave(this.#threadId, this);
      this.#live.clear();
    }
  }

  get #isAborted(): boolean {
    return this.#signal?.aborted === true;
  }

  get #isDraining(): boolean {
    return this.#drainSignal?.aborted === true;
  }

  /** Yields the remaining entries of the stream; a gap when they cannot be read. */
  async *#drain(): AsyncGenerator<StreamEntry, void, undefined> {
    const isRead = yield* this.#catchUp(DRAIN_MS);
    const position = this.#position ?? parseEventId(this.#after) ?? BEFORE_ALL;
    if (!isRead && !this.#isAborted) yield this.#gap(position, position, 'lost');
  }

  #nextWake(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }

  *#takeBatch(): Generator<StreamEntry> {
    const batch = this.#live.shift()!;
    const position = this.#position!;
    if (compareIds(batch.lastId, position) <= 0) return;
    const isNewStream = batch.predecessor === BEFORE_ALL;
    const joinsUp = isNewStream ? !this.#isUncertain : compareIds(batch.predecessor, position) <= 0;
    if (!joinsUp || batch.entries.length === 0) {
      this.#isBehind = true;
      return;
    }
    for (const entry of batch.entries) {
      if (compareIds(entry.id, position) <= 0) continue;
      this.#position = entry.id;
      if (this.#isRequested(entry.runId)) yield this.#reportGap(entry);
      if (this.#isAborted) return;
    }
  }

  /**
   * Reads the stream up to its end. Returns false when the reading was ended before, or Redis did not answer within
   * `patienceMs`.
   */
  async *#catchUp(patienceMs = Number.POSITIVE_INFINITY): AsyncGenerator<StreamEntry, boolean, undefined> {
    this.#isBehind = false;
    for (;;) {
      const page = await this.#page(patienceMs);
      if (!page) return false;
      const isFirst = this.#position === undefined;
      const after = this.#position ?? page.from;
      if (page.last === undefined) {
        // Nothing is known of the thread: it has not begun, or ended long ago. All entries to come are later ones,
        // whatever their ids: the client's may never have been issued, and Redis may have another clock than before.
        this.#position = BEFORE_ALL;
        if (after !== BEFORE_ALL && !this.#hasReportedEmptied) {
          this.#hasReportedEmptied = true;
          yield this.#gap(after, after, 'expired');
        }
        return true;
      }
      const isUncertain = this.#isUncertain;
      this.#isUncertain = false;
      if (isFirst && compareIds(after, page.last) > 0) {
        // The id was never issued: no existing entry comes after it, and all later ones do.
        this.#position = page.last;
        return true;
      }
      const missing = findMissingUpTo(page, { after, runId: this.#runId, isFirst, isUncertain });
      if (missing !== undefined) {
        this.#position = missing;
        // The client has got the gap for the whole stream; a new beginning is no further loss.
        if (!this.#hasReportedEmptied) yield this.#gap(missing, after, 'expired');
        this.#hasReportedEmptied = false;
        // The client's position was beyond the end of a stream that started over: the page began at the wrong id.
        if (compareIds(after, missing) > 0) continue;
      }
      yield* this.#entriesOf(page);
      if (this.#isAborted) return false;
      this.#position = page.scannedTo;
      if (missing !== undefined && compareIds(missing, page.scannedTo) > 0) this.#position = missing;
      if (!page.hasMore) return true;
    }
  }

  *#entriesOf(page: RangePage): Generator<StreamEntry> {
    const bytes = bytesOf(page);
    this.#budget.take(bytes);
    try {
      for (const [id, text] of page.entries) {
        this.#position = id;
        yield this.#reportGap(this.#source.decode(id, text));
        if (this.#isAborted) return;
      }
    } finally {
      this.#budget.giveBack(bytes);
    }
  }

  /** Asks until Redis answers, the reading ends or the time is up. */
  async #page(patienceMs: number): Promise<RangePage | undefined> {
    const budget = this.#budget;
    const from = () => this.#position ?? this.#after;
    const giveUpAt = performance.now() + patienceMs;
    while (!this.#isAborted && performance.now() < giveUpAt) {
      try {
        const range = () => this.#source.range(this.#threadId, from(), this.#runId, budget.pageBytes);
        const page = await budget.inTurn(range);
        await this.#prepare(page);
        return page;
      } catch {
        await pause(OUTAGE_PAUSE_MS, undefined, { signal: this.#signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  /** Prepares a page when others have had their turn: handlers of a project may take seconds, or hang. */
  async #prepare(page: RangePage): Promise<void> {
    const preparing = this.#source.prepare(page.entries);
    if (!preparing) return;
    const bytes = bytesOf(page);
    this.#budget.take(bytes);
    await preparing.finally(() => this.#budget.giveBack(bytes));
  }

  #isRequested(runId: string): boolean {
    return this.#runId === '' || runId === this.#runId;
  }

  /** Reports a gap that an appender has marked in the stream. */
  #reportGap(entry: StreamEntry): StreamEntry {
    if (entry.kind === CONTROL_KINDS.gap) this.#source.onGap?.((JSON.parse(entry.data) as StreamGap).reason);
    return entry;
  }

  #gap(id: string, after: string, reason: StreamGap['reason']): StreamEntry {
    this.#source.onGap?.(reason);
    return { id, runId: this.#runId, attempt: 0, isResumable: true, ...gapAfter(after, reason) };
  }
}

function bytesOf({ entries }: RangePage): number {
  return entries.reduce((sum, [, text]) => sum + text.length, 0);
}

function parsePosition(afterId: string | undefined): string {
  if (afterId === undefined) return '';
  if (afterId === '$') return '$';
  const id = parseEventId(afterId);
  if (id === undefined) throw new TypeError(`Not an event id: ${afterId}`);
  return id;
}
