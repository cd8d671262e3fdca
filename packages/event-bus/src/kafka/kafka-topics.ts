import { TOPICS, type TopicName } from '@runyard/contracts';
import type { Kafka } from 'kafkajs';
import type { KafkaBusConfig } from '../event-bus.ts';

const SEVEN_DAYS_MS = 7 * 24 * 3_600_000;

export function kafkaTopic(config: KafkaBusConfig, topic: TopicName): string {
  return config.topicPrefix + TOPICS[topic].name;
}

/**
 * Creates topics before their first use. Topics that the broker creates automatically have its default partitions, and
 * the first subscribers would find no partitions to be assigned.
 */
export class KafkaTopics {
  readonly #kafka: Kafka;
  readonly #config: KafkaBusConfig;
  /** Topics that exist, or are being created. */
  readonly #ensured = new Map<TopicName, Promise<void>>();

  constructor(kafka: Kafka, config: KafkaBusConfig) {
    this.#kafka = kafka;
    this.#config = config;
  }

  /**
   * Resolves when these topics exist, and creates only those that do not: a user needs the right to create a topic only
   * where nobody else has created it before.
   */
  async ensure(topics: readonly TopicName[]): Promise<void> {
    const unknown = topics.filter((topic) => !this.#ensured.has(topic));
    if (unknown.length > 0) {
      const creating = this.#create(unknown);
      for (const topic of unknown) {
        this.#ensured.set(topic, creating);
        creating.catch(() => {
          if (this.#ensured.get(topic) === creating) this.#ensured.delete(topic);
        });
      }
    }
    await Promise.all(topics.map((topic) => this.#ensured.get(topic)));
  }

  /** Makes the next `ensure` check the topics, because they may not exist any more. */
  invalidate(): void {
    this.#ensured.clear();
  }

  async #create(topics: readonly TopicName[]): Promise<void> {
    const admin = this.#kafka.admin();
    await admin.connect();
    try {
      const existing = new Set(await admin.listTopics());
      const missing = topics.map((topic) => kafkaTopic(this.#config, topic)).filter((name) => !existing.has(name));
      if (missing.length === 0) return;
      await admin.createTopics({
        waitForLeaders: true,
        topics: missing.map((topic) => ({
          topic,
          numPartitions: this.#config.partitions ?? 3,
          configEntries: [{ name: 'retention.ms', value: String(this.#config.retentionMs ?? SEVEN_DAYS_MS) }],
        })),
      });
    } finally {
      await admin.disconnect();
    }
  }
}
