import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { decodeEntry, type LiveBatch } from './entry-codec.ts';
import { BEFORE_ALL, compareIds, parseEventId } from './event-id.ts';
import type { FeedListener } from './live-feeds.ts';
import { CONTROL_KINDS, type ReadOptions, type StreamEntry, type StreamGap } from './types.ts';

/** One answer of the range script. */
export interface RangePage {
  /** Newest id of the stream. Undefined: Redis knows nothing of this thread. */
  last?: string;
  /** Entries up to here may be gone. */
  floor: string;
  /** The id before the run's first entry; empty when it has none. */
  start: string;
  /** Where the range began. */
  from: string;
  /** How far it went. */
  scannedTo: string;
  hasMore: boolean;
  entries: [id: string, text: string][];
}

export interface ReaderSource {
  range(threadId: string, after: string, runId: string, maxBytes: number): Promise<RangePage>;
  join(threadId: string, listener: FeedListener): void;
  leave(threadId: string, listener: FeedListener): void;
}

const PAGE_BYTES = 256 * 1024;
const OUTAGE_PAUSE_MS = 200;

/**
 * Reads one thread's stream for one client: subscribes first, then reads the range from where the client stands, then goes on
 * live, dropping what was seen. Whenever the live batches do not join up with what was read (the connection was lost, the client
 * is so slow that its buffer ran over) it reads the range again, so memory is bounded and nothing is missed silently.
 */
export class ThreadReader implements FeedListener {
  readonly #source: ReaderSource;
  readonly #threadId: string;
  readonly #runId: string;
  readonly #signal: AbortSignal | undefined;
  readonly #maxBufferBytes: number;
  /** The last id read; undefined until the first range said where the client stands. */
  #position: string | undefined;
  readonly #after: string;
  #buffer: LiveBatch[] = [];
  #bufferBytes = 0;
  #isSubscribed = false;
  /** Live batches are not the continuation of what was read: a range must be read. */
  #isBehind = true;
  /** The connection was lost and the stream not seen since: a stream that begins anew may have lost entries. */
  #isUncertain = false;
  #wake: (() => void) | undefined;

  constructor(source: ReaderSource, threadId: string, options: ReadOptions, maxBufferBytes: number) {
    this.#source = source;
    this.#threadId = threadId;
    this.#runId = options.runId ?? '';
    this.#signal = options.signal;
    this.#maxBufferBytes = maxBufferBytes;
    this.#after = startOf(options.afterId);
  }

  /** Memory taken by live batches that wait for the client, about. */
  get waitingBytes(): number {
    return this.#bufferBytes;
  }

  subscribed(isAgain: boolean): void {
    this.#isSubscribed = true;
    this.#isBehind = true;
    if (isAgain) this.#isUncertain = true;
    this.#wake?.();
  }

  batch(batch: LiveBatch): void {
    // A batch that alone is larger than the buffer still counts as one, or a reader could never go on live.
    if (this.#buffer.length > 0 && this.#bufferBytes + batch.bytes > this.#maxBufferBytes) {
      this.#buffer = [];
      this.#bufferBytes = 0;
      this.#isBehind = true;
    } else {
      this.#buffer.push(batch);
      this.#bufferBytes += batch.bytes;
    }
    this.#wake?.();
  }

  async *entries(): AsyncGenerator<StreamEntry, void, undefined> {
    const wake = () => this.#wake?.();
    // One signal may end any number of readers, which is no leak.
    if (this.#signal) setMaxListeners(0, this.#signal);
    this.#signal?.addEventListener('abort', wake, { once: true });
    this.#source.join(this.#threadId, this);
    try {
      while (!this.#isEnded) {
        if (this.#isSubscribed && this.#isBehind) yield* this.#catchUp();
        else if (this.#isSubscribed && this.#buffer.length > 0) yield* this.#takeBatch();
        else await this.#something();
      }
    } finally {
      this.#signal?.removeEventListener('abort', wake);
      this.#source.leave(this.#threadId, this);
    }
  }

  get #isEnded(): boolean {
    return this.#signal?.aborted === true;
  }

  #something(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }

  *#takeBatch(): Generator<StreamEntry> {
    const batch = this.#buffer.shift()!;
    this.#bufferBytes -= batch.bytes;
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
      if (this.#isWanted(entry.runId)) yield entry;
      if (this.#isEnded) return;
    }
  }

  async *#catchUp(): AsyncGenerator<StreamEntry, void, undefined> {
    this.#isBehind = false;
    for (;;) {
      const page = await this.#page();
      if (!page) return;
      const isFirst = this.#position === undefined;
      const after = this.#position ?? page.from;
      if (page.last === undefined) {
        // Nothing is known of the thread: not begun, or long over.
        this.#position = after;
        if (isFirst && after !== BEFORE_ALL) yield this.#gap(after, after);
        return;
      }
      this.#isUncertain = false;
      if (isFirst && compareIds(after, page.last) > 0) {
        // An id that was never given out: nothing up to now comes after it, and what comes from now on does.
        this.#position = page.last;
        return;
      }
      const missing = this.#missingUpTo(page, after, isFirst);
      if (missing !== undefined) {
        this.#position = missing;
        yield this.#gap(missing, after);
        // The client stood beyond the end of a stream that began anew: the page looked in the wrong place.
        if (compareIds(after, missing) > 0) continue;
      }
      for (const [id, text] of page.entries) {
        this.#position = id;
        yield decodeEntry(id, text);
        if (this.#isEnded) return;
      }
      this.#position = page.scannedTo;
      if (missing !== undefined && compareIds(missing, page.scannedTo) > 0) this.#position = missing;
      if (!page.hasMore) return;
    }
  }

  /** The id up to which entries that the client should have had are gone; undefined when none are. */
  #missingUpTo(page: RangePage, after: string, isFirst: boolean): string | undefined {
    if (compareIds(after, page.last!) > 0) return page.floor;
    const isFromOldestKept = isFirst && this.#runId === '' && after === BEFORE_ALL;
    if (isFromOldestKept) return undefined;
    // What was before the run's first entry is of no interest to a reader of that run.
    const wantedAfter = page.start !== '' && compareIds(page.start, after) > 0 ? page.start : after;
    return compareIds(wantedAfter, page.floor) < 0 ? page.floor : undefined;
  }

  /** Asks until Redis answers or the reading ends. */
  async #page(): Promise<RangePage | undefined> {
    while (!this.#isEnded) {
      try {
        return await this.#source.range(this.#threadId, this.#position ?? this.#after, this.#runId, PAGE_BYTES);
      } catch {
        await pause(OUTAGE_PAUSE_MS, undefined, { signal: this.#signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  #isWanted(runId: string): boolean {
    return this.#runId === '' || runId === this.#runId;
  }

  #gap(id: string, after: string): StreamEntry {
    const gap: StreamGap = { reason: 'expired', after: after === BEFORE_ALL ? null : after };
    return {
      id,
      runId: this.#runId,
      attempt: 0,
      isResumable: true,
      kind: CONTROL_KINDS.gap,
      event: 'gap',
      data: JSON.stringify(gap),
    };
  }
}

function startOf(afterId: string | undefined): string {
  if (afterId === undefined) return '';
  if (afterId === '$') return '$';
  const id = parseEventId(afterId);
  if (id === undefined) throw new TypeError(`Not an event id: ${afterId}`);
  return id;
}
