import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import type { EventBusConfig } from '../index.ts';
import { kafkaClientConfig } from '../kafka/kafka-client.ts';

/** Publishes texts to the `organizations` topic without the bus, as a foreign or broken producer might. */
export async function publishRaw(config: EventBusConfig, texts: string[]): Promise<void> {
  if (config.kind === 'kafka') {
    const { topicPrefix } = config;
    const producer = new Kafka({ ...kafkaClientConfig(config), logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    const messages = texts.map((value) => ({ key: 'raw', value }));
    await producer.send({ topic: `${topicPrefix}runyard.organizations`, messages });
    await producer.disconnect();
    return;
  }
  const redis = new Redis(config.url);
  for (const text of texts) {
    await redis.xadd(`{${config.prefix}}:bus:runyard.organizations`, '*', 'key', 'raw', 'event', text);
  }
  redis.disconnect();
}
