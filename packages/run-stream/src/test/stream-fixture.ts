import { randomUUID } from 'node:crypto';
import { testRedis, waitFor } from '@runyard/test-kit';
import { Redis } from 'ioredis';
import { type AppendEvent, type ReadOptions, RunStreams, type RunStreamsOptions, type StreamEntry } from '../index.ts';

export interface Collected {
  got: StreamEntry[];
  /** Returns the entries' data, `'gap'` for a gap. */
  data(): unknown[];
  /** Returns the data once there are that many entries. */
  until(count: number): Promise<unknown[]>;
  /** Ends the reading and waits for its end. */
  stop(): Promise<void>;
}

/** One thread's stream on a real Redis, with operations for tests. */
export class StreamFixture {
  readonly thread: string = randomUUID();
  readonly run: string = randomUUID();
  readonly redis = testRedis();
  /** Reads Redis directly. */
  readonly admin = new Redis(this.redis.url);
  readonly #opened: RunStreams[] = [];
  readonly #readings: Collected[] = [];
  readonly streams = this.open();

  open(options: Partial<RunStreamsOptions> = {}): RunStreams {
    const streams = new RunStreams({ redis: this.redis.url, keyPrefix: this.redis.prefix, ...options });
    this.#opened.push(streams);
    return streams;
  }

  key(part: 'events' | 'head' | 'ends' | 'sizes' | 'told' | 'starts' | 'live'): string {
    return `{${this.redis.prefix}:${this.thread}}:${part}`;
  }

  event(data: unknown, runId = this.run): AppendEvent {
    return { runId, attempt: 1, kind: 'custom', event: 'custom', data: JSON.stringify(data) };
  }

  append(
    data: unknown[],
    options: { epoch?: bigint; runId?: string; resumable?: boolean; endsRun?: boolean; by?: RunStreams } = {},
  ): Promise<string[]> {
    return (options.by ?? this.streams).append(
      { threadId: this.thread, epoch: options.epoch ?? 1n },
      data.map((value) => this.event(value, options.runId)),
      { resumable: options.resumable ?? true, endsRun: options.endsRun },
    );
  }

  /** Collects a reader's entries in the background. */
  collect(options: Omit<ReadOptions, 'signal'> = {}, by = this.streams): Collected {
    const got: StreamEntry[] = [];
    const ending = new AbortController();
    const done = (async () => {
      for await (const entry of by.read(this.thread, { ...options, signal: ending.signal })) got.push(entry);
    })();
    const data = () => got.map((entry) => (entry.kind === 'stream.gap' ? 'gap' : JSON.parse(entry.data)));
    const collected: Collected = {
      got,
      data,
      until: async (count) => {
        await waitFor(() => got.length >= count, { what: `${count} entries` });
        return data();
      },
      stop: () => {
        ending.abort();
        return done;
      },
    };
    this.#readings.push(collected);
    return collected;
  }

  /** Resolves when this many connections listen to the thread. */
  async listened(connections = 1): Promise<void> {
    await waitFor(async () => (await this.admin.pubsub('NUMSUB', this.key('live')))[1] === connections);
  }

  /** Deletes everything of the thread from Redis, like a restart without its data. */
  async wipe(): Promise<void> {
    await this.admin.del(
      (['events', 'head', 'ends', 'sizes', 'told', 'starts'] as const).map((part) => this.key(part)),
    );
  }

  /** Returns the connections of all opened streams, by their name. */
  async connections(): Promise<string[]> {
    const list = (await this.admin.client('LIST')) as string;
    return list.split('\n').filter((line) => line.includes(`name=${this.redis.prefix}-streams`));
  }

  async close(): Promise<void> {
    await Promise.all(this.#readings.map((reading) => reading.stop()));
    await Promise.all(this.#opened.map((streams) => streams.close()));
    this.admin.disconnect();
    await this.redis.close();
  }
}
