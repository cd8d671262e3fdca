import { randomBytes } from 'node:crypto';
import { type KafkaLogin, readKafkaLogin } from '@runyard/service-kit';
import { kafkaLoginPrefixes, testServerAddress, testServerVariables } from './environment.ts';

export interface TestKafka {
  brokers: string[];
  /** Unique to this call; a prefix for every topic and group name. Topics must be created before use. */
  topicPrefix: string;
  /** A user who may do everything. Absent where the broker accepts everybody. */
  sasl?: KafkaLogin;
}

export function testKafka(): TestKafka {
  const sasl = readKafkaLogin(process.env, kafkaLoginPrefixes.platform);
  return {
    brokers: testServerAddress('kafka').split(','),
    topicPrefix: `test-${randomBytes(6).toString('hex')}.`,
    ...(sasl && { sasl }),
  };
}

/**
 * Returns the user of deployments' processes, who may do nothing with the topics of a `testKafka` until a test permits
 * it.
 */
export function testKafkaDeploymentLogin(): KafkaLogin | undefined {
  return readKafkaLogin(process.env, kafkaLoginPrefixes.deployments, kafkaLoginPrefixes.platform);
}

/**
 * Returns whether there is a broker to test with. Only Kafka may be absent, and never where infrastructure is required.
 */
export function isKafkaAvailable(): boolean {
  return Boolean(process.env[testServerVariables.kafka]);
}
