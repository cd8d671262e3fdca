import type { TopicName } from '@runyard/contracts';
import { Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';
import {
  type BusContext,
  BusUnavailableError,
  type EventBus,
  type KafkaBusConfig,
  type KeyedEvent,
  type SubscribeOptions,
  type Subscription,
} from '../event-bus.ts';
import { OpenSubscriptions } from '../open-subscriptions.ts';
import { kafkaLogCreator } from './kafka-logging.ts';
import { KafkaSubscription } from './kafka-subscription.ts';
import { createTopics, kafkaTopic } from './kafka-topics.ts';
import { calmRequestQueueTimer } from './request-queue-timer.ts';

/** As the CloudEvents Kafka binding names its structured mode. */
const CONTENT_TYPE = 'application/cloudevents+json; charset=UTF-8';

/** The event bus on Kafka: waits for all in-sync replicas, retries without doubling (idempotent producer). */
export class KafkaBus implements EventBus {
  readonly #config: KafkaBusConfig;
  readonly #context: BusContext;
  readonly #kafka: Kafka;
  readonly #subscriptions = new OpenSubscriptions();
  #topics: Promise<void> | undefined;
  #producer: Promise<Producer> | undefined;

  constructor(config: KafkaBusConfig, context: BusContext) {
    calmRequestQueueTimer();
    this.#config = config;
    this.#context = context;
    this.#kafka = new Kafka({
      brokers: config.brokers,
      clientId: config.clientId,
      connectionTimeout: 3_000,
      requestTimeout: 10_000,
      retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 3 },
      logLevel: logLevel.WARN,
      logCreator: kafkaLogCreator(context.logger),
    });
  }

  async publish(topic: TopicName, events: KeyedEvent[]): Promise<void> {
    this.#subscriptions.refuseWhenClosed();
    if (events.length === 0) return;
    let producer: Promise<Producer> | undefined;
    try {
      await this.#ensureTopics();
      producer = this.#producer ??= this.#connectProducer();
      await (await producer).send({
        topic: kafkaTopic(this.#config, topic),
        acks: -1,
        timeout: 10_000,
        messages: events.map(({ key, event }) => ({
          key,
          value: JSON.stringify(event),
          headers: { 'content-type': CONTENT_TYPE },
        })),
      });
    } catch (error) {
      // After a failed send the producer's sequence numbers may not be the broker's any more: begin with a new one.
      if (producer && this.#producer === producer) this.#producer = undefined;
      producer?.then((one) => one.disconnect()).catch(() => undefined);
      throw new BusUnavailableError(error);
    }
  }

  async subscribe(options: SubscribeOptions): Promise<Subscription> {
    this.#subscriptions.refuseWhenClosed();
    const subscription = new KafkaSubscription({
      kafka: this.#kafka,
      config: this.#config,
      context: this.#context,
      options,
      ensureTopics: () => this.#ensureTopics(),
    });
    return this.#subscriptions.start(subscription);
  }

  async close(): Promise<void> {
    await this.#subscriptions.close();
    await this.#producer?.then((producer) => producer.disconnect()).catch(() => undefined);
  }

  #ensureTopics(): Promise<void> {
    this.#topics ??= createTopics(this.#kafka, this.#config).catch((error: unknown) => {
      this.#topics = undefined;
      throw error;
    });
    return this.#topics;
  }

  async #connectProducer(): Promise<Producer> {
    const producer = this.#kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 4 },
    });
    await producer.connect();
    return producer;
  }
}
