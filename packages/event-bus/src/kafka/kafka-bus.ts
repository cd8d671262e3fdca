import type { TopicName } from '@runyard/contracts';
import { Kafka, logLevel } from 'kafkajs';
import {
  type BusContext,
  BusUnavailableError,
  type EventBus,
  EventTooLargeError,
  type KafkaBusConfig,
  type KeyedEvent,
  PUBLISH_WITHIN_MS,
  type SubscribeOptions,
  type Subscription,
} from '../event-bus.ts';
import { OpenSubscriptions } from '../open-subscriptions.ts';
import { kafkaClientConfig } from './kafka-client.ts';
import { kafkaLogCreator } from './kafka-logging.ts';
import { KafkaProducer } from './kafka-producer.ts';
import { KafkaSubscription } from './kafka-subscription.ts';
import { KafkaTopics, kafkaTopic } from './kafka-topics.ts';
import { patchRequestQueueTimer } from './request-queue-timer.ts';

/** The content type of structured mode in the CloudEvents Kafka binding. */
const CONTENT_TYPE = 'application/cloudevents+json; charset=UTF-8';

/** The event bus on Kafka: waits for all in-sync replicas, retries without duplicates (idempotent producer). */
export class KafkaBus implements EventBus {
  readonly #config: KafkaBusConfig;
  readonly #context: BusContext;
  readonly #kafka: Kafka;
  readonly #subscriptions = new OpenSubscriptions();
  readonly #topics: KafkaTopics;
  /** One for each topic: a topic that fails ends its own producer, and those of others go on. */
  readonly #producers = new Map<TopicName, KafkaProducer>();

  constructor(config: KafkaBusConfig, context: BusContext) {
    patchRequestQueueTimer();
    this.#config = config;
    this.#context = context;
    this.#kafka = new Kafka({
      ...kafkaClientConfig(config),
      clientId: config.clientId,
      connectionTimeout: 3_000,
      requestTimeout: 10_000,
      retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 3 },
      logLevel: logLevel.WARN,
      logCreator: kafkaLogCreator(context.logger),
    });
    this.#topics = new KafkaTopics(this.#kafka, config);
  }

  async publish(topic: TopicName, events: KeyedEvent[]): Promise<void> {
    this.#subscriptions.assertOpen();
    if (events.length === 0) return;
    const deadline = AbortSignal.timeout(PUBLISH_WITHIN_MS);
    let producer: KafkaProducer | undefined;
    try {
      await before(deadline, this.#topics.ensure([topic]));
      producer = this.#producers.get(topic) ?? new KafkaProducer(this.#kafka);
      this.#producers.set(topic, producer);
      const messages = events.map(({ key, event }) => ({
        key,
        value: JSON.stringify(event),
        headers: { 'content-type': CONTENT_TYPE },
      }));
      await before(deadline, producer.send(kafkaTopic(this.#config, topic), messages));
    } catch (error) {
      if (this.#producers.get(topic) === producer) this.#producers.delete(topic);
      void producer?.close();
      if (isTooLarge(error)) throw new EventTooLargeError(error);
      // The broker may have come back without its data.
      this.#topics.invalidate();
      throw new BusUnavailableError(error);
    }
  }

  async subscribe(options: SubscribeOptions): Promise<Subscription> {
    this.#subscriptions.assertOpen();
    const subscription = new KafkaSubscription({
      kafka: this.#kafka,
      config: this.#config,
      context: this.#context,
      options,
      topics: this.#topics,
    });
    return this.#subscriptions.start(subscription);
  }

  async close(): Promise<void> {
    await this.#subscriptions.close();
    await Promise.all([...this.#producers.values()].map((producer) => producer.close()));
  }
}

/** Returns whether the broker, or the topic, takes only less in one request, as their settings say. */
function isTooLarge(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { type } = error as { type?: unknown };
  return type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE' || isTooLarge(error.cause);
}

/** Returns the result of the work unless the deadline passes first; the work then continues unobserved. */
async function before<T>(deadline: AbortSignal, work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  deadline.throwIfAborted();
  let onAbort: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    onAbort = () => reject(new Error(`no confirmation within ${PUBLISH_WITHIN_MS} ms`));
    deadline.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    deadline.removeEventListener('abort', onAbort!);
  }
}
