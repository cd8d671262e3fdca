import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@runyard/service-kit';
import type { Redis } from 'ioredis';
import { Delivery, type Origin } from '../delivery.ts';
import {
  BusClosedError,
  type BusContext,
  EVENTS_OF_BATCH,
  type RedisBusConfig,
  type SubscribeOptions,
} from '../event-bus.ts';
import { GroupLease } from './group-lease.ts';
import { GroupStreams, isFaultOfStream } from './group-streams.ts';
import { openBlockingConnection } from './redis-connection.ts';

const BLOCK_MS = 2_000;
/** Milliseconds by which a read exceeds its block time when its connection was lost without an error. */
const UNRESPONSIVE_MS = 5_000;
/** Entries in one read of a subscription without batches. */
const ENTRIES_OF_READ = 64;
/** Milliseconds for which new entries gather between two reads of a subscription with batches. */
const GATHER_MS = 250;
const RETRY_PAUSE_MS = 500;
/** Milliseconds after which streams are looked for again where none exists yet. */
const NO_STREAMS_PAUSE_MS = 1_000;
/** Streams of one read: its answer is in memory at once. */
const STREAMS_OF_READ = 20;
/**
 * Every active member uses the same consumer name, so that entries which the last active member read and did not
 * confirm are its successor's own backlog.
 */
const CONSUMER = 'active';

type Entry = [id: string, fields: string[] | null];
type EntriesByStream = [stream: string, entries: Entry[]][];

interface Connections {
  /** Reads the streams. */
  redis: Redis;
  /** Has the lease; often the same. */
  leases: Redis;
}

/**
 * One member of a consumer group over Redis Streams. Redis gives a group's entries to any member, which would lose the
 * order of a key. So a lease makes one member active at a time; the others stand by.
 */
export class RedisSubscription {
  readonly #redis: Redis;
  readonly #options: SubscribeOptions;
  readonly #logger: Logger;
  readonly #delivery: Delivery;
  readonly #lease: GroupLease;
  readonly #reader: Redis;
  readonly #streams: GroupStreams;
  /** Maximum number of entries of each stream in one read; of streams of other buses, of all of them. */
  readonly #entriesOfRead: number;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;

  constructor({ redis, leases }: Connections, config: RedisBusConfig, context: BusContext, options: SubscribeOptions) {
    this.#redis = redis;
    this.#options = options;
    this.#logger = context.logger.child({ group: options.group });
    this.#delivery = new Delivery(options, context);
    this.#reader = openBlockingConnection(config.url, `${config.prefix}-bus-${options.group}`);
    this.#streams = new GroupStreams(redis, config, options, this.#logger);
    this.#entriesOfRead = options.onEvents ? EVENTS_OF_BATCH : ENTRIES_OF_READ;
    this.#lease = new GroupLease(leases, {
      key: `{${config.prefix}}:bus:active:${options.group}`,
      owner: randomUUID(),
      leaseMs: config.sessionTimeoutMs ?? 10_000,
    });
  }

  /** Resolves when the group exists, and with it its position; retries until closed. */
  async start(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        await this.#streams.open();
        this.#running = this.#run();
        return;
      } catch (error) {
        if (this.#closing.signal.aborted) break;
        this.#logger.warn('subscribing failed, will retry', { error });
        await this.#pause(RETRY_PAUSE_MS);
      }
    }
    throw new BusClosedError();
  }

  async close(): Promise<void> {
    this.#closing.abort(new BusClosedError());
    // Disconnecting aborts the blocking read.
    this.#reader.disconnect();
    await this.#running;
    await this.#lease.release();
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        if (await this.#lease.acquire()) await this.#consumeWhileActive();
        else await this.#pause(this.#lease.leaseMs / 10);
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        if (isNoGroup(error)) this.#recreateGroups();
        else this.#logger.debug('reading the event stream failed, will retry', { error });
        await this.#pause(RETRY_PAUSE_MS);
      }
    }
  }

  async #consumeWhileActive(): Promise<void> {
    const stopRenewing = this.#lease.keep();
    try {
      /** Streams whose backlog of the last active member was read: it comes first, then new entries. */
      const current = new Set<string>();
      while (!this.#closing.signal.aborted && this.#lease.isHeld) {
        const streams = await this.#streams.open();
        // One that was left out for a while may have a backlog when it is back.
        for (const stream of current) if (!streams.has(stream)) current.delete(stream);
        if (streams.size === 0) {
          await this.#pause(NO_STREAMS_PAUSE_MS);
          continue;
        }
        const behind = [...streams.keys()].filter((stream) => !current.has(stream));
        const { withEntries } = await this.#handleAll(streams, behind, '0');
        for (const stream of behind) if (!withEntries.has(stream)) current.add(stream);
        // None of them waits for the backlog of another, which its owner can make as long as it likes.
        const { isFull } = await this.#handleAll(streams, [...current], withEntries.size > 0 ? '>' : '> or wait');
        // Entries that were read and not handled are in the backlog, which is read by whoever takes the lease next.
        if (!this.#lease.isHeld) return;
        if (this.#options.onEvents && withEntries.size === 0 && !isFull) await this.#pause(GATHER_MS);
      }
    } finally {
      stopRenewing();
    }
  }

  /**
   * Reads streams, in parts where they are many, and handles what they have. Returns which had entries, and whether one
   * may have more of them.
   */
  async #handleAll(
    streams: ReadonlyMap<string, Origin>,
    names: string[],
    from: '0' | '>' | '> or wait',
  ): Promise<{ isFull: boolean; withEntries: Set<string> }> {
    const withEntries = new Set<string>();
    let isFull = false;
    const waits = from === '> or wait' && names.length <= STREAMS_OF_READ;
    for (let start = 0; start < names.length && this.#lease.isHeld; start += STREAMS_OF_READ) {
      const part = names.slice(start, start + STREAMS_OF_READ);
      for (const [stream, entries] of await this.#read(part, from === '0' ? '0' : '>', waits)) {
        if (entries.length > 0) withEntries.add(stream);
        isFull ||= entries.length >= this.#entriesOf(part.length);
        await this.#handle(stream, streams.get(stream)!, entries);
      }
    }
    return { isFull, withEntries };
  }

  async #handle(stream: string, origin: Origin, entries: Entry[]): Promise<void> {
    for (const batch of this.#delivery.batchesOf(entries)) {
      if (!this.#lease.isHeld) return;
      // An entry may be trimmed between its delivery and its confirmation.
      const texts = batch.flatMap(([, fields]) => fields?.[fields.indexOf('event') + 1] ?? []);
      await this.#delivery.deliver(origin, texts, this.#closing.signal);
      await this.#confirm(stream, batch);
    }
  }

  async #confirm(stream: string, batch: Entry[]): Promise<void> {
    try {
      await this.#redis.xack(stream, this.#options.group, ...batch.map(([id]) => id));
    } catch (error) {
      if (!this.#streams.areOfOthers || !isFaultOfStream(error)) throw error;
      this.#streams.setAside(stream, error);
    }
  }

  /** Entries of each stream in a read of several streams: those of other buses share the room. */
  #entriesOf(streams: number): number {
    return this.#streams.areOfOthers ? Math.ceil(this.#entriesOfRead / streams) : this.#entriesOfRead;
  }

  /**
   * Reads the backlog (`0`) or new entries (`>`). What one owner does to its stream stops no other: where several streams
   * cannot be read together, each is read by itself.
   */
  async #read(streams: string[], from: '0' | '>', waits: boolean): Promise<EntriesByStream> {
    try {
      const read = await this.#readTogether(streams, from, waits);
      this.#streams.wereRead(streams);
      return read;
    } catch (error) {
      if (!this.#streams.areOfOthers || !isFaultOfStream(error)) throw error;
      if (streams.length === 1) {
        this.#streams.setAside(streams[0]!, error);
        return [];
      }
      const read: EntriesByStream = [];
      for (const stream of streams) read.push(...(await this.#read([stream], from, false)));
      return read;
    }
  }

  async #readTogether(streams: string[], from: '0' | '>', waits: boolean): Promise<EntriesByStream> {
    const arguments_ = [
      ...['GROUP', this.#options.group, CONSUMER, 'COUNT', String(this.#entriesOf(streams.length))],
      ...(waits ? ['BLOCK', String(BLOCK_MS)] : []),
      ...['STREAMS', ...streams, ...streams.map(() => from)],
    ];
    const watchdog = setTimeout(() => this.#reader.disconnect(true), BLOCK_MS + UNRESPONSIVE_MS);
    try {
      return ((await this.#reader.call('XREADGROUP', ...arguments_)) as EntriesByStream | null) ?? [];
    } finally {
      clearTimeout(watchdog);
    }
  }

  /** Recreates the groups after Redis was emptied: everything in the streams now is newer. */
  #recreateGroups(): void {
    this.#logger.warn('event streams were emptied, consumer groups recreated');
    this.#streams.forget();
  }

  #pause(ms: number): Promise<void> {
    return pause(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined);
  }
}

function isNoGroup(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOGROUP');
}
