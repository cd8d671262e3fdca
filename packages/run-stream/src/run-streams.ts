import type { Redis } from 'ioredis';
import { encodeEntry } from './entry-codec.ts';
import { StaleEpochError, StreamUnavailableError } from './errors.ts';
import { BEFORE_ALL, compareIds, nextId, parseEventId } from './event-id.ts';
import { type FeedListener, LiveFeeds } from './live-feeds.ts';
import { type RangePage, toRangePage } from './range-page.ts';
import { ReadBudget } from './read-budget.ts';
import { bounded, openConnection } from './redis-connection.ts';
import { defineStreamCommands, type StreamCommands } from './stream-commands.ts';
import { gapAfter } from './stream-gap.ts';
import { threadKeys } from './thread-keys.ts';
import { ThreadReader } from './thread-reader.ts';
import type {
  AppendEvent,
  AppendOptions,
  CancelSignal,
  ReadOptions,
  StreamEntry,
  StreamFence,
  StreamGap,
} from './types.ts';

export interface RunStreamsOptions {
  /** Redis URL. */
  redis: string;
  /** Before every key and channel; one per deployment. */
  keyPrefix: string;
  /** What a command may take before it counts as failed. Default 2 s. */
  timeoutMs?: number;
  /** Entries a thread keeps at most, about. Default 50,000. */
  maxEntriesPerThread?: number;
  /** Bytes of them it keeps at most, to a megabyte; what is appended at once stays, however large. Default 256 MiB. */
  maxBytesPerThread?: number;
  /** A reader was told that events it should have had are missing: not kept any more, or lost with Redis. */
  onGap?: (reason: StreamGap['reason']) => void;
  /** Told how many entries went because a thread had more than it may keep. */
  onTrim?: (entries: number) => void;
  /** How long a resumable run's events live after its last. Default 120 s. */
  resumableTtlMs?: number;
  /** The same for other runs: what a slow reader may lag behind at the end. Default 10 s. */
  graceMs?: number;
  /** How long the newest epoch is remembered after the last events are gone. Default 180 s, several leases. */
  fenceTtlMs?: number;
  /** When a stream nobody appends to or ends is given up. Default 24 h, the longest run. */
  idleTtlMs?: number;
  /** Live events that wait for one slow reader, before it reads from the stream instead. Default 256 KiB. */
  readerBufferBytes?: number;
  /** The same for all readers of the process, with what they have read of streams. Default 64 MiB. */
  readersBufferBytes?: number;
}

/** What this process knows of a thread it appends to. */
interface Appending {
  lastId: string;
  runId: string;
  /** An append failed: the next one marks that events are missing. */
  hasLost: boolean;
}

/** Threads remembered at most; a forgotten one only loses the marks above. */
const MAX_APPENDING = 20_000;

/** The event streams of a deployment's threads, over two connections per process whatever the number of runs and readers. */
export class RunStreams {
  readonly #prefix: string;
  readonly #options: Required<Omit<RunStreamsOptions, 'redis' | 'keyPrefix' | 'onTrim' | 'onGap'>>;
  readonly #onGap: (reason: StreamGap['reason']) => void;
  readonly #onTrim: (entries: number) => void;
  readonly #redis: Redis & StreamCommands;
  readonly #subscriber: Redis;
  readonly #feeds: LiveFeeds;
  readonly #budget: ReadBudget;
  readonly #appending = new Map<string, Appending>();

  constructor({ redis, keyPrefix, onTrim = () => undefined, onGap = () => undefined, ...options }: RunStreamsOptions) {
    this.#prefix = keyPrefix;
    this.#onTrim = onTrim;
    this.#onGap = onGap;
    this.#options = {
      timeoutMs: 2_000,
      maxEntriesPerThread: 50_000,
      maxBytesPerThread: 256 * 1024 * 1024,
      resumableTtlMs: 120_000,
      graceMs: 10_000,
      fenceTtlMs: 180_000,
      idleTtlMs: 24 * 3_600_000,
      readerBufferBytes: 256 * 1024,
      readersBufferBytes: 64 * 1024 * 1024,
      ...options,
    };
    const { timeoutMs } = this.#options;
    this.#redis = defineStreamCommands(
      openConnection(redis, { name: `${keyPrefix}-streams`, timeoutMs, pipelined: true }),
    );
    this.#subscriber = openConnection(redis, { name: `${keyPrefix}-streams-live`, timeoutMs, pipelined: false });
    this.#feeds = new LiveFeeds(this.#subscriber);
    this.#budget = new ReadBudget(this.#options.readersBufferBytes);
  }

  /**
   * Appends a run's events in order and delivers them to live readers; answers their ids. Without events it only makes the epoch
   * known, so that an older owner is refused from then on.
   *
   * Throws `StaleEpochError` when a newer owner has been seen, and `StreamUnavailableError` within the time limit when Redis
   * does not take them; the next append then marks the gap in the stream.
   */
  async append(fence: StreamFence, events: AppendEvent[], options: AppendOptions): Promise<string[]> {
    const first = events[0];
    if (!first) return this.#appendOfRun(fence, '', [], options);
    const runs: AppendEvent[][] = [];
    for (const event of events) {
      if (runs.at(-1)?.[0]?.runId === event.runId) runs.at(-1)!.push(event);
      else runs.push([event]);
    }
    // Sent at once on the same connection: the order stands, and there is one round trip.
    const ids = await Promise.allSettled(
      runs.map((ofRun, index) => {
        const endsRun = options.endsRun === true && index === runs.length - 1;
        return this.#appendOfRun(fence, ofRun[0]!.runId, ofRun, { ...options, endsRun });
      }),
    );
    return ids.flatMap((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  }

  /**
   * Entries as they come, until the signal or the caller ends it. While Redis is away it waits; what cannot be read any more is
   * told by an entry of kind `stream.gap`.
   */
  read(threadId: string, options: ReadOptions = {}): AsyncGenerator<StreamEntry, void, undefined> {
    return new ThreadReader(
      {
        range: (id, after, runId, maxBytes) => this.#range(id, after, runId, maxBytes),
        join: (id, listener: FeedListener) => this.#feeds.join(threadKeys(this.#prefix, id).live, listener),
        leave: (id, listener: FeedListener) => this.#feeds.leave(threadKeys(this.#prefix, id).live, listener),
        onGap: this.#onGap,
      },
      threadId,
      options,
      { bufferBytes: this.#options.readerBufferBytes, budget: this.#budget },
    ).entries();
  }

  /** Id of the newest entry of a thread; before all when nothing is known of it. A reader from there gets what comes from now on. */
  async newestId(threadId: string): Promise<string> {
    const { head } = threadKeys(this.#prefix, threadId);
    return (await this.#command(() => this.#redis.hget(head, 'last'))) ?? BEFORE_ALL;
  }

  /**
   * The run has ended: its events go after the grace time, or after the resumable time if it was resumable. Also safe for a run
   * that is expiring already or never had events.
   */
  async expire(threadId: string, runId: string): Promise<void> {
    if (this.#appending.get(threadId)?.runId === runId) this.#appending.delete(threadId);
    const { events, head, ends } = threadKeys(this.#prefix, threadId);
    const { resumableTtlMs, graceMs, fenceTtlMs } = this.#options;
    await this.#command(() =>
      this.#redis.runStreamExpire(events, head, ends, runId, `${resumableTtlMs}`, `${graceMs}`, `${fenceTtlMs}`),
    );
  }

  /** The thread is gone: its events go at once, and what a run of it still appends is refused. */
  async forget(threadId: string): Promise<void> {
    this.#appending.delete(threadId);
    const { events, head, ends, sizes } = threadKeys(this.#prefix, threadId);
    await this.#command(() => this.#redis.runStreamForget(events, head, ends, sizes, `${this.#options.fenceTtlMs}`));
  }

  /** Tells all workers of the deployment to look at a run's cancel order. The order itself must be in Postgres before. */
  async publishCancel(signal: CancelSignal): Promise<void> {
    await this.#command(() => this.#redis.publish(this.#cancelChannel, JSON.stringify(signal)));
  }

  /** Calls the handler for each cancel signal; returns what ends it. Signals may be lost, so orders must be polled too. */
  onCancel(handle: (signal: CancelSignal) => void): () => void {
    return this.#feeds.handle(this.#cancelChannel, (message) => handle(JSON.parse(message) as CancelSignal));
  }

  /** Throws `StreamUnavailableError` unless Redis answers within the time limit. */
  async check(): Promise<void> {
    await this.#command(() => this.#redis.ping());
  }

  /** Closes both connections. Readers end when their signal says so; end them before. */
  async close(): Promise<void> {
    this.#redis.disconnect();
    this.#subscriber.disconnect();
  }

  get #cancelChannel(): string {
    return `{${this.#prefix}}:cancel`;
  }

  #command<T>(command: () => Promise<T>): Promise<T> {
    return bounded(this.#redis, command, this.#options.timeoutMs);
  }

  async #appendOfRun(
    fence: StreamFence,
    runId: string,
    events: AppendEvent[],
    options: AppendOptions,
  ): Promise<string[]> {
    const { threadId } = fence;
    const before = this.#appending.get(threadId);
    const continues = before?.runId === runId || (events[0]?.attempt ?? 1) > 1;
    const texts = events.map((event) => encodeEntry(event, options.resumable));
    if (before?.hasLost && events[0]) {
      texts.unshift(encodeEntry(lostMark(events[0], before.lastId), options.resumable));
    }
    const known = latest(options.lastKnownId, before?.lastId);
    try {
      const firstId = await this.#runAppend(fence, runId, texts, options, continues, known);
      if (events.length === 0) return [];
      const ids = idsFrom(firstId, texts.length).slice(texts.length - events.length);
      if (options.endsRun) this.#appending.delete(threadId);
      else this.#remember(threadId, { lastId: ids.at(-1)!, runId, hasLost: false });
      return ids;
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('STALEEPOCH')) {
        throw new StaleEpochError(threadId, fence.epoch);
      }
      if (error instanceof StreamUnavailableError && events.length > 0) {
        this.#remember(threadId, { lastId: known, runId, hasLost: true });
      }
      throw error;
    }
  }

  async #runAppend(
    { threadId, epoch }: StreamFence,
    runId: string,
    texts: string[],
    { resumable, endsRun }: AppendOptions,
    continues: boolean,
    knownId: string,
  ): Promise<string> {
    const { events, head, ends, sizes, live } = threadKeys(this.#prefix, threadId);
    const [knownMs, knownSeq] = knownId.split('-') as [string, string];
    const { maxEntriesPerThread, maxBytesPerThread, idleTtlMs, fenceTtlMs, resumableTtlMs, graceMs } = this.#options;
    const [firstId, trimmed] = await this.#command(() =>
      this.#redis.runStreamAppend(
        events,
        head,
        ends,
        sizes,
        live,
        `${epoch}`,
        runId,
        resumable ? '1' : '0',
        continues ? '1' : '0',
        knownMs,
        knownSeq,
        `${maxEntriesPerThread}`,
        `${idleTtlMs}`,
        `${fenceTtlMs}`,
        `${resumableTtlMs}`,
        `${graceMs}`,
        endsRun ? '1' : '0',
        `${maxBytesPerThread}`,
        ...texts,
      ),
    );
    if (trimmed > 0) this.#onTrim(trimmed);
    return firstId;
  }

  async #range(threadId: string, after: string, runId: string, maxBytes: number): Promise<RangePage> {
    const { events, head } = threadKeys(this.#prefix, threadId);
    const reply = await this.#command(() => this.#redis.runStreamRange(events, head, after, runId, `${maxBytes}`));
    return toRangePage(reply, after);
  }

  #remember(threadId: string, appending: Appending): void {
    this.#appending.delete(threadId);
    this.#appending.set(threadId, appending);
    if (this.#appending.size > MAX_APPENDING) this.#appending.delete(this.#appending.keys().next().value!);
  }
}

function lostMark({ runId, attempt }: AppendEvent, lastId: string): AppendEvent {
  return { runId, attempt, ...gapAfter(lastId, 'lost') };
}

function latest(a: string | undefined, b: string | undefined): string {
  const ids = [a, b].flatMap((id) => (id === undefined ? [] : [parseEventId(id) ?? BEFORE_ALL]));
  return ids.sort(compareIds).at(-1) ?? BEFORE_ALL;
}

function idsFrom(firstId: string, count: number): string[] {
  const ids = [firstId];
  while (ids.length < count) ids.push(nextId(ids.at(-1)!));
  return ids;
}
