import { TOPICS, type TopicName } from '@runyard/contracts';
import type { Kafka } from 'kafkajs';
import type { KafkaBusConfig } from '../event-bus.ts';
import { topicNames } from '../events.ts';

const SEVEN_DAYS_MS = 7 * 24 * 3_600_000;

export function kafkaTopic(config: KafkaBusConfig, topic: TopicName): string {
  return config.topicPrefix + TOPICS[topic].name;
}

/**
 * Creates the topics that are not there yet. Left to the broker's automatic creation they would have its default partitions, and
 * the first subscribers would find no partitions to be assigned.
 */
export async function createTopics(kafka: Kafka, config: KafkaBusConfig): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    await admin.createTopics({
      waitForLeaders: true,
      topics: topicNames.map((topic) => ({
        topic: kafkaTopic(config, topic),
        numPartitions: config.partitions ?? 3,
        configEntries: [{ name: 'retention.ms', value: String(config.retentionMs ?? SEVEN_DAYS_MS) }],
      })),
    });
  } finally {
    await admin.disconnect();
  }
}
