import { describe, expect, it } from 'vitest';
import type { DataPlaneSettings } from './data-plane-variables.ts';
import { platformSettings } from './platform-settings.ts';

const urls = { publicUrl: 'http://runyard.example.com', jwksUrl: 'http://keys.example.com' };
const settings = (kafka: Partial<DataPlaneSettings>) =>
  platformSettings({ EVENT_BUS: 'kafka', KAFKA_BROKERS: 'a:1', TOPIC_PREFIX: '', ...kafka } as DataPlaneSettings, urls);
const own = { KAFKA_SASL_USERNAME: 'runyard', KAFKA_SASL_PASSWORD: 'secret-of-the-platform' };
const ofDeployments = {
  DEPLOYMENT_KAFKA_SASL_USERNAME: 'deployments',
  DEPLOYMENT_KAFKA_SASL_PASSWORD: 'secret-of-deployments',
};

describe('the Kafka settings of deployments', () => {
  it('contain their own user, with the mechanism and the encryption of the brokers', () => {
    const { eventBus } = settings({ ...own, ...ofDeployments, KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SSL: true });
    expect(eventBus).toMatchObject({
      readKafkaLogin: { mechanism: 'scram-sha-512', username: 'deployments', password: 'secret-of-deployments' },
      readKafkaTls: {},
    });
    expect(JSON.stringify(eventBus)).not.toContain('secret-of-the-platform');
  });

  it('contain no user for brokers without a login, and are empty over Redis', () => {
    expect(settings({}).eventBus.readKafkaLogin).toBeUndefined();
    expect(settings({ EVENT_BUS: 'redis', ...own }).eventBus.readKafkaLogin).toBeUndefined();
  });

  it.each([
    [own, 'DEPLOYMENT_KAFKA_SASL_USERNAME is required with KAFKA_SASL_USERNAME.'],
    [{ KAFKA_SASL_USERNAME: 'runyard' }, 'KAFKA_SASL_PASSWORD is required with KAFKA_SASL_USERNAME.'],
    [
      { DEPLOYMENT_KAFKA_SASL_USERNAME: 'deployments' },
      'DEPLOYMENT_KAFKA_SASL_PASSWORD is required with DEPLOYMENT_KAFKA_SASL_USERNAME.',
    ],
  ])('are refused with the name of the variable when only %j is given', (kafka, sentence) => {
    expect(() => settings(kafka)).toThrow(sentence);
  });
});
