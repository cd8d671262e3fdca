import type { Redis } from 'ioredis';
import { Appender } from './appender.ts';
import { EntryCodec } from './entry-codec.ts';
import { BEFORE_ALL } from './event-id.ts';
import { LiveFeeds } from './live-feeds.ts';
import { type RangePage, toRangePage } from './range-page.ts';
import { ReadBudget } from './read-budget.ts';
import { openConnection, runCommand } from './redis-connection.ts';
import { type RunStreamsOptions, type StreamSettings, withDefaults } from './run-streams-options.ts';
import { defineStreamCommands, type StreamCommands } from './stream-commands.ts';
import { threadKeys } from './thread-keys.ts';
import { ThreadReader } from './thread-reader.ts';
import type {
  AppendEvent,
  AppendOptions,
  CancelSignal,
  ReadOptions,
  RunStreamState,
  StreamEntry,
  StreamFence,
} from './types.ts';

/** The event streams of a deployment's threads, over two connections per process for any number of runs and readers. */
export class RunStreams {
  readonly #settings: StreamSettings;
  readonly #redis: Redis & StreamCommands;
  readonly #subscriber: Redis;
  readonly #codec: EntryCodec;
  readonly #appender: Appender;
  readonly #feeds: LiveFeeds;
  readonly #budget: ReadBudget;

  constructor(options: RunStreamsOptions) {
    this.#settings = withDefaults(options);
    const { redis, keyPrefix, timeoutMs, readersBufferBytes, cipher } = this.#settings;
    this.#redis = defineStreamCommands(
      openConnection(redis, { name: `${keyPrefix}-streams`, timeoutMs, pipelined: true }),
    );
    this.#subscriber = openConnection(redis, { name: `${keyPrefix}-streams-live`, timeoutMs, pipelined: false });
    this.#codec = new EntryCodec(cipher);
    this.#appender = new Appender(this.#redis, this.#settings, this.#codec);
    this.#feeds = new LiveFeeds(this.#subscriber, this.#codec);
    this.#budget = new ReadBudget(readersBufferBytes);
  }

  /**
   * Appends a run's events in order and delivers them to live readers; returns their ids. Without events it only
   * publishes the epoch, so that an older owner is refused from then on.
   *
   * Throws `StaleEpochError` when a newer owner has been seen, and `StreamUnavailableError` within the time limit when
   * Redis does not accept them; the next append then marks the gap in the stream.
   */
  append(fence: StreamFence, events: AppendEvent[], options: AppendOptions): Promise<string[]> {
    return this.#appender.append(fence, events, options);
  }

  /**
   * Yields entries as they come, until the signal or the caller ends it. Waits while Redis is unavailable. An entry of
   * kind `stream.gap` reports entries that cannot be read any more.
   */
  read(threadId: string, options: ReadOptions = {}): AsyncGenerator<StreamEntry, void, undefined> {
    const channel = (id: string) => this.#keys(id).live;
    return new ThreadReader(
      {
        range: (id, after, runId, maxBytes) => this.#range(id, after, runId, maxBytes),
        prepare: (entries) => this.#codec.prepare(entries),
        decode: (id, text) => this.#codec.decode(id, text),
        join: (id, listener) => this.#feeds.join(channel(id), listener),
        leave: (id, listener) => this.#feeds.leave(channel(id), listener),
        onGap: this.#settings.onGap,
      },
      threadId,
      options,
      { bufferBytes: this.#settings.readerBufferBytes, budget: this.#budget },
    ).entries();
  }

  /**
   * Returns the id of a thread's newest entry; the lowest id when nothing is known of the thread. A reader from there
   * gets later entries only.
   */
  async newestId(threadId: string): Promise<string> {
    const { head } = this.#keys(threadId);
    return (await this.#command(() => this.#redis.hget(head, 'last'))) ?? BEFORE_ALL;
  }

  /**
   * Ends the run: its events expire after the grace time, or after the resumable time if it was resumable. It is safe
   * for a run that is expiring already or never had events.
   */
  async expireRun(threadId: string, runId: string): Promise<void> {
    this.#appender.forgetRun(threadId, runId);
    const { events, head, ends, starts } = this.#keys(threadId);
    const { resumableTtlMs, graceMs, fenceTtlMs } = this.#settings;
    await this.#command(() =>
      this.#redis.runStreamExpire(
        events,
        head,
        ends,
        starts,
        runId,
        `${resumableTtlMs}`,
        `${graceMs}`,
        `${fenceTtlMs}`,
      ),
    );
  }

  /** Returns what the stream still knows of a run. */
  readRunState(threadId: string, runId: string): Promise<RunStreamState> {
    const { head, publishedEnds } = this.#keys(threadId);
    return this.#command(async () => {
      // Commands of the same turn share a round trip.
      const [[start, end, last], toldAt] = await Promise.all([
        this.#redis.hmget(head, `start:${runId}`, `told:${runId}`, 'last'),
        this.#redis.zscore(publishedEnds, runId),
      ]);
      return { hasBegun: Boolean(start), hasEnd: Boolean(end ?? toldAt), newestId: last ?? BEFORE_ALL };
    });
  }

  /**
   * Returns the position that the last append of the run has named; undefined when the stream knows none. An earlier
   * owner may still append until the epoch of the caller has been appended, with or without events.
   */
  async newestPosition(threadId: string, runId: string): Promise<number | undefined> {
    const { head } = this.#keys(threadId);
    const [ofRun, position] = ((await this.#command(() => this.#redis.hget(head, 'position'))) ?? '').split(' ');
    return ofRun === runId ? Number(position) : undefined;
  }

  /**
   * Deletes the events of a deleted thread, and refuses later appends of its runs. The epoch is above that of its last
   * owner, and not above those of a new thread with its id: the new thread's events stay.
   */
  async deleteThread({ threadId, epoch }: StreamFence): Promise<void> {
    this.#appender.forgetThread(threadId);
    const { events, head, ends, sizes, starts } = this.#keys(threadId);
    const { fenceTtlMs } = this.#settings;
    await this.#command(() =>
      this.#redis.runStreamForget(events, head, ends, sizes, starts, `${epoch}`, `${fenceTtlMs}`),
    );
  }

  /** Tells all workers of the deployment to read a run's cancel order. The order itself must be in Postgres before. */
  async publishCancel(signal: CancelSignal): Promise<void> {
    await this.#command(() => this.#redis.publish(this.#cancelChannel, JSON.stringify(signal)));
  }

  /**
   * Calls the handler for each cancel signal; returns a function that ends it. Signals may be lost, so orders must be
   * polled too.
   */
  onCancel(handle: (signal: CancelSignal) => void): () => void {
    return this.#feeds.handle(this.#cancelChannel, (message) => handle(JSON.parse(message) as CancelSignal));
  }

  /** Throws `StreamUnavailableError` unless Redis answers within the time limit. */
  async check(): Promise<void> {
    await this.#command(() => this.#redis.ping());
  }

  /** Closes both connections. End readers before this, by their signals. */
  async close(): Promise<void> {
    this.#redis.disconnect();
    this.#subscriber.disconnect();
  }

  get #cancelChannel(): string {
    return `{${this.#settings.keyPrefix}}:cancel`;
  }

  #keys(threadId: string): ReturnType<typeof threadKeys> {
    return threadKeys(this.#settings.keyPrefix, threadId);
  }

  #command<T>(command: () => Promise<T>): Promise<T> {
    return runCommand(this.#redis, command, this.#settings.timeoutMs);
  }

  async #range(threadId: string, after: string, runId: string, maxBytes: number): Promise<RangePage> {
    const { events, head, sizes } = this.#keys(threadId);
    const reply = await this.#command(() =>
      this.#redis.runStreamRange(events, head, sizes, after, runId, `${maxBytes}`),
    );
    return toRangePage(reply, after);
  }
}
