import { randomBytes } from 'node:crypto';
import { testServerAddress, testServerVariables } from './environment.ts';

export interface TestKafka {
  brokers: string[];
  /** Unique to this call; put it before every topic and group name. Topics must be created before use. */
  topicPrefix: string;
}

export function testKafka(): TestKafka {
  return {
    brokers: testServerAddress('kafka').split(','),
    topicPrefix: `test-${randomBytes(6).toString('hex')}.`,
  };
}

/** Whether there is a broker to test with. Only Kafka may be absent, and never where infrastructure is required. */
export function kafkaAvailable(): boolean {
  return Boolean(process.env[testServerVariables.kafka]);
}
