import { setTimeout as pause } from 'node:timers/promises';
import type { TopicName } from '@runyard/contracts';
import type { Logger } from '@runyard/service-kit';
import type { Consumer, ConsumerGroupJoinEvent, EachBatchPayload, Kafka } from 'kafkajs';
import { Delivery } from '../delivery.ts';
import { BusClosedError, type BusContext, type KafkaBusConfig, type SubscribeOptions } from '../event-bus.ts';
import { type KafkaTopics, kafkaTopic } from './kafka-topics.ts';

export interface KafkaSubscriptionParts {
  kafka: Kafka;
  config: KafkaBusConfig;
  context: BusContext;
  options: SubscribeOptions;
  topics: KafkaTopics;
}

const RESTART_PAUSE_MS = 1_000;
const HEARTBEAT_MS = 3_000;
const MAX_WAIT_MS = 500;
/**
 * The broker answers a subscription with batches when it has this much, or after `MAX_WAIT_MS`. Under the load of one
 * machine that is the whole time: the steps of a run arrive together, and its consumer writes it once.
 */
const GATHERED_BYTES = 1_048_576;

/**
 * One member of a Kafka consumer group.
 *
 * A new group's position is fixed and committed as soon as partitions are assigned, before the first event. With the
 * broker's default, it would be determined again at every start, and events published while no consumer ran would be
 * skipped. A consumer that ends by itself is replaced.
 */
export class KafkaSubscription {
  readonly #parts: KafkaSubscriptionParts;
  readonly #logger: Logger;
  readonly #delivery: Delivery;
  readonly #groupId: string;
  /** Topics by their names on the broker. */
  readonly #topics: Map<string, TopicName>;
  readonly #closing = new AbortController();
  #consumer: Consumer | undefined;
  /** Resolves when the position of the newest assignment is fixed: events are handled only after that. */
  #positioned: Promise<void> = Promise.resolve();
  #replacing: Promise<void> | undefined;

  constructor(parts: KafkaSubscriptionParts) {
    this.#parts = parts;
    this.#groupId = parts.config.topicPrefix + parts.options.group;
    this.#logger = parts.context.logger.child({ group: this.#groupId });
    this.#delivery = new Delivery(parts.options, parts.context);
    this.#topics = new Map(parts.options.topics.map((topic) => [kafkaTopic(parts.config, topic), topic]));
  }

  /** Resolves when partitions are assigned and positioned; retries until closed. */
  async start(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        await this.#parts.topics.ensure(this.#parts.options.topics);
        return await this.#startConsumer();
      } catch (error) {
        if (this.#closing.signal.aborted) break;
        this.#parts.topics.invalidate();
        this.#logger.warn('subscribing failed, will retry', { error });
        await this.#dropConsumer();
        await pause(RESTART_PAUSE_MS, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      }
    }
    throw new BusClosedError();
  }

  async close(): Promise<void> {
    this.#closing.abort(new BusClosedError());
    await this.#replacing;
    await this.#dropConsumer();
  }

  async #startConsumer(): Promise<void> {
    const { kafka, config, options } = this.#parts;
    const sessionTimeout = config.sessionTimeoutMs ?? 10_000;
    const consumer = kafka.consumer({
      groupId: this.#groupId,
      sessionTimeout,
      heartbeatInterval: Math.min(HEARTBEAT_MS, Math.floor(sessionTimeout / 3)),
      // A close also waits this long for the fetch in flight.
      maxWaitTimeInMs: MAX_WAIT_MS,
      minBytes: options.onEvents ? GATHERED_BYTES : 1,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 200, maxRetryTime: 5_000, retries: 8, restartOnFailure: async () => true },
    });
    this.#consumer = consumer;
    const assigned = new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.GROUP_JOIN, (event) => {
        this.#positioned = this.#fixPositions(consumer, event);
        this.#positioned.then(resolve, reject);
      });
      consumer.on(consumer.events.CRASH, ({ payload }) => {
        if (payload.restart) return;
        reject(payload.error);
        this.#replace(consumer, payload.error);
      });
      this.#closing.signal.addEventListener('abort', () => reject(new BusClosedError()), { once: true });
    });
    // It may fail before it is awaited below, where the error is reported all the same.
    assigned.catch(() => undefined);
    await consumer.connect();
    await consumer.subscribe({ topics: [...this.#topics.keys()], fromBeginning: options.from === 'earliest' });
    await consumer.run({
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: 3,
      eachBatch: (payload) => this.#handle(payload),
    });
    await assigned;
  }

  /** Commits a position for every assigned partition that has none. */
  async #fixPositions(consumer: Consumer, { payload }: ConsumerGroupJoinEvent): Promise<void> {
    const topics = Object.keys(payload.memberAssignment);
    if (topics.length === 0) return;
    const admin = this.#parts.kafka.admin();
    await admin.connect();
    try {
      const committed = await admin.fetchOffsets({ groupId: this.#groupId, topics });
      for (const { topic, partitions } of committed) {
        const assigned = payload.memberAssignment[topic] ?? [];
        const without = partitions.filter(({ partition, offset }) => offset === '-1' && assigned.includes(partition));
        if (without.length === 0) continue;
        const bounds = await admin.fetchTopicOffsets(topic);
        const positions = without.map(({ partition }) => {
          const bound = bounds.find((one) => one.partition === partition)!;
          return { topic, partition, offset: this.#parts.options.from === 'latest' ? bound.high : bound.low };
        });
        await consumer.commitOffsets(positions);
        for (const position of positions) consumer.seek(position);
      }
    } finally {
      await admin.disconnect();
    }
  }

  async #handle(payload: EachBatchPayload): Promise<void> {
    const { batch, resolveOffset, heartbeat, isRunning, isStale } = payload;
    await this.#positioned;
    const topic = this.#topics.get(batch.topic)!;
    // A handler may take longer than the session, and the group must not treat this member as dead meanwhile. When the
    // group rebalances, an event that keeps failing must not delay the others: this member joins again and gets it
    // again.
    const leaving = new AbortController();
    const keepAlive = setInterval(() => heartbeat().catch((error: unknown) => leaving.abort(error)), HEARTBEAT_MS);
    const signal = AbortSignal.any([this.#closing.signal, leaving.signal]);
    try {
      for (const messages of this.#delivery.batchesOf(batch.messages)) {
        if (!isRunning() || isStale() || signal.aborted) return;
        const texts = messages.map(({ value }) => value?.toString() ?? '');
        await this.#delivery.deliver({ topic }, texts, signal);
        resolveOffset(messages.at(-1)!.offset);
      }
    } catch (error) {
      // Closing ends the retries: the event stays at its position for the next member.
      if (!this.#closing.signal.aborted) throw leaving.signal.aborted ? leaving.signal.reason : error;
    } finally {
      clearInterval(keepAlive);
    }
  }

  /** Replaces a consumer: kafkajs stops it for good on errors that it considers permanent. */
  #replace(consumer: Consumer, error: Error): void {
    if (this.#closing.signal.aborted || this.#consumer !== consumer || this.#replacing) return;
    this.#logger.error('consumer ended, replacing it', { error });
    this.#parts.topics.invalidate();
    this.#replacing = this.#dropConsumer()
      .then(() => this.start())
      .catch(() => undefined)
      .finally(() => {
        this.#replacing = undefined;
      });
  }

  async #dropConsumer(): Promise<void> {
    const consumer = this.#consumer;
    this.#consumer = undefined;
    await consumer?.disconnect().catch(() => undefined);
  }
}
