import type { TopicName } from '@runyard/contracts';
import type { Redis } from 'ioredis';
import {
  type BusContext,
  BusUnavailableError,
  type EventBus,
  type KeyedEvent,
  type RedisBusConfig,
  type SubscribeOptions,
  type Subscription,
} from '../event-bus.ts';
import { OpenSubscriptions } from '../open-subscriptions.ts';
import { openCommandConnection } from './redis-connection.ts';
import { RedisSubscription } from './redis-subscription.ts';
import { streamKey } from './stream-key.ts';

const RETENTION_MS = 3_600_000;
const MAX_EVENTS = 100_000;

/** The event bus on Redis Streams, for installations without a broker: one stream per topic. */
export class RedisBus implements EventBus {
  readonly #config: RedisBusConfig;
  readonly #context: BusContext;
  readonly #redis: Redis;
  /** Is the connection above unless leases are kept elsewhere. */
  readonly #leases: Redis;
  readonly #subscriptions = new OpenSubscriptions();

  constructor(config: RedisBusConfig, context: BusContext) {
    this.#config = config;
    this.#context = context;
    this.#redis = openCommandConnection(config.url, `${config.prefix}-bus`);
    this.#leases = config.leaseUrl
      ? openCommandConnection(config.leaseUrl, `${config.prefix}-bus-leases`)
      : this.#redis;
  }

  async publish(topic: TopicName, events: KeyedEvent[]): Promise<void> {
    this.#subscriptions.assertOpen();
    if (events.length === 0) return;
    const stream = streamKey(this.#config.prefix, topic);
    const oldestKept = Date.now() - (this.#config.retentionMs ?? RETENTION_MS);
    try {
      // A transaction adds all of them or none, in this order.
      const transaction = this.#redis.multi();
      for (const { key, event } of events) transaction.xadd(stream, '*', 'key', key, 'event', JSON.stringify(event));
      transaction.xtrim(stream, 'MINID', '~', String(oldestKept));
      transaction.xtrim(stream, 'MAXLEN', '~', this.#config.maxEvents ?? MAX_EVENTS);
      const results = await transaction.exec();
      const failed = results?.find(([error]) => error)?.[0];
      if (failed) throw failed;
    } catch (error) {
      throw new BusUnavailableError(error);
    }
  }

  async subscribe(options: SubscribeOptions): Promise<Subscription> {
    this.#subscriptions.assertOpen();
    const subscription = new RedisSubscription(
      { redis: this.#redis, leases: this.#leases },
      this.#config,
      this.#context,
      options,
    );
    return this.#subscriptions.start(subscription);
  }

  async close(): Promise<void> {
    await this.#subscriptions.close();
    this.#redis.disconnect();
    this.#leases.disconnect();
  }
}
