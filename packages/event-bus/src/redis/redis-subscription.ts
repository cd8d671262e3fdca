import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { TopicName } from '@runyard/contracts';
import type { Logger } from '@runyard/service-kit';
import type { Redis } from 'ioredis';
import { Delivery } from '../delivery.ts';
import {
  BusClosedError,
  type BusContext,
  EVENTS_OF_BATCH,
  type RedisBusConfig,
  type SubscribeOptions,
} from '../event-bus.ts';
import { GroupLease } from './group-lease.ts';
import { openBlockingConnection } from './redis-connection.ts';
import { streamKey } from './stream-key.ts';

const BLOCK_MS = 2_000;
/** Milliseconds by which a read exceeds its block time when its connection was lost without an error. */
const UNRESPONSIVE_MS = 5_000;
/** Entries in one read of a subscription without batches. */
const ENTRIES_OF_READ = 64;
/** Milliseconds for which new entries gather between two reads of a subscription with batches. */
const GATHER_MS = 250;
const RETRY_PAUSE_MS = 500;
/**
 * Every active member uses the same consumer name, so that entries which the last active member read and did not
 * confirm are its successor's own backlog.
 */
const CONSUMER = 'active';

type Entry = [id: string, fields: string[] | null];
type StreamReply = [stream: string, entries: Entry[]][] | null;

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
  readonly #streams: Map<string, TopicName>;
  /** Maximum number of entries of each stream in one read. */
  readonly #entriesOfRead: number;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;

  constructor(redis: Redis, config: RedisBusConfig, context: BusContext, options: SubscribeOptions) {
    this.#redis = redis;
    this.#options = options;
    this.#logger = context.logger.child({ group: options.group });
    this.#delivery = new Delivery(options, context);
    this.#reader = openBlockingConnection(config.url, `${config.prefix}-bus-${options.group}`);
    this.#streams = new Map(options.topics.map((topic) => [streamKey(config.prefix, topic), topic]));
    this.#entriesOfRead = options.onEvents ? EVENTS_OF_BATCH : ENTRIES_OF_READ;
    this.#lease = new GroupLease(redis, {
      key: `{${config.prefix}}:bus:active:${options.group}`,
      owner: randomUUID(),
      leaseMs: config.sessionTimeoutMs ?? 10_000,
    });
  }

  /** Resolves when the group exists, and with it its position; retries until closed. */
  async start(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        await this.#createGroups(this.#options.from === 'latest' ? '$' : '0');
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
        if (isNoGroup(error)) await this.#recreateGroups();
        else this.#logger.debug('reading the event stream failed, will retry', { error });
        await this.#pause(RETRY_PAUSE_MS);
      }
    }
  }

  async #consumeWhileActive(): Promise<void> {
    const stopRenewing = this.#lease.keep();
    try {
      // The backlog of the last active member comes first, then new entries.
      let backlogFrom: string[] | undefined = [...this.#streams.keys()].map(() => '0');
      while (!this.#closing.signal.aborted && this.#lease.isHeld) {
        const reply = await this.#read(backlogFrom ?? [...this.#streams.keys()].map(() => '>'), !backlogFrom);
        const entries = reply ?? [];
        for (const [stream, some] of entries) await this.#handle(stream, some);
        if (backlogFrom && entries.every(([, some]) => some.length === 0)) backlogFrom = undefined;
        else if (!backlogFrom) await this.#letGather(entries);
      }
    } finally {
      stopRenewing();
    }
  }

  async #handle(stream: string, entries: Entry[]): Promise<void> {
    const topic = this.#streams.get(stream)!;
    for (const batch of this.#delivery.batchesOf(entries)) {
      if (!this.#lease.isHeld) return;
      // An entry may be trimmed between its delivery and its confirmation.
      const texts = batch.flatMap(([, fields]) => fields?.[fields.indexOf('event') + 1] ?? []);
      await this.#delivery.deliver(topic, texts, this.#closing.signal);
      await this.#redis.xack(stream, this.#options.group, ...batch.map(([id]) => id));
    }
  }

  /** Pauses a subscription with batches, unless more entries than it has read wait already. */
  async #letGather(read: [stream: string, entries: Entry[]][]): Promise<void> {
    if (!this.#options.onEvents || read.some(([, entries]) => entries.length === this.#entriesOfRead)) return;
    await this.#pause(GATHER_MS);
  }

  async #read(from: string[], waits: boolean): Promise<StreamReply> {
    const arguments_ = [
      ...['GROUP', this.#options.group, CONSUMER, 'COUNT', String(this.#entriesOfRead)],
      ...(waits ? ['BLOCK', String(BLOCK_MS)] : []),
      ...['STREAMS', ...this.#streams.keys(), ...from],
    ];
    const watchdog = setTimeout(() => this.#reader.disconnect(true), BLOCK_MS + UNRESPONSIVE_MS);
    try {
      return (await this.#reader.call('XREADGROUP', ...arguments_)) as StreamReply;
    } finally {
      clearTimeout(watchdog);
    }
  }

  async #createGroups(from: '$' | '0'): Promise<void> {
    for (const stream of this.#streams.keys()) {
      await this.#redis.xgroup('CREATE', stream, this.#options.group, from, 'MKSTREAM').catch((error: Error) => {
        if (!error.message.startsWith('BUSYGROUP')) throw error;
      });
    }
  }

  /** Recreates the groups after Redis was emptied: everything in the streams now is newer. */
  async #recreateGroups(): Promise<void> {
    this.#logger.warn('event streams were emptied, consumer groups recreated');
    await this.#createGroups('0').catch(() => undefined);
  }

  #pause(ms: number): Promise<void> {
    return pause(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined);
  }
}

function isNoGroup(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOGROUP');
}
