import { fileURLToPath } from 'node:url';
import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { ConfigError } from './config-error.ts';
import { eventBusVariables, toEventBusConfig } from './event-bus-config.ts';

const read = (environment: Record<string, string>) =>
  toEventBusConfig(readConfig(Type.Object(eventBusVariables), { environment }), 'x');
const onKafka = (environment: Record<string, string> = {}) => read({ KAFKA_BROKERS: 'a:1, b:2', ...environment });

describe('the variables of the event bus', () => {
  it('require the address of the chosen bus', () => {
    expect(() => read({})).toThrow('KAFKA_BROKERS is required with EVENT_BUS=kafka.');
    expect(() => read({ EVENT_BUS: 'redis' })).toThrow('EVENT_BUS_REDIS_URI is required with EVENT_BUS=redis.');
    expect(onKafka({ TOPIC_PREFIX: 'p.' })).toEqual({
      kind: 'kafka',
      brokers: ['a:1', 'b:2'],
      clientId: 'x',
      topicPrefix: 'p.',
    });
    expect(onKafka({ KAFKA_LOOPBACK_HOST: 'machine' })).toMatchObject({ loopbackHost: 'machine' });
  });

  it('limit what Redis keeps: an hour, and a number of events', () => {
    const redis = { EVENT_BUS: 'redis', EVENT_BUS_REDIS_URI: 'redis://a:1' };
    expect(read(redis)).toMatchObject({ retentionMs: 3_600_000, maxEvents: 100_000 });
    const own = { EVENT_BUS_REDIS_RETENTION_SECONDS: '86400', EVENT_BUS_REDIS_MAX_EVENTS: '5000' };
    expect(read({ ...redis, ...own })).toMatchObject({ retentionMs: 86_400_000, maxEvents: 5_000 });
  });

  it('name a user and its mechanism, by default `plain`', () => {
    const user = { KAFKA_SASL_USERNAME: 'runyard', KAFKA_SASL_PASSWORD: 'secret' };
    const sasl = { username: 'runyard', password: 'secret' };
    expect(onKafka(user)).toMatchObject({ sasl: { mechanism: 'plain', ...sasl } });
    expect(onKafka({ ...user, KAFKA_SASL_MECHANISM: 'scram-sha-512' })).toMatchObject({
      sasl: { mechanism: 'scram-sha-512', ...sasl },
    });
    expect(onKafka({ KAFKA_SASL_USERNAME: '', KAFKA_SASL_PASSWORD: '' })).not.toHaveProperty('sasl');
  });

  it('encrypt connections, with certificates of a file or a text', () => {
    const file = fileURLToPath(import.meta.url);
    expect(onKafka({ KAFKA_SSL: 'true' })).toMatchObject({ tls: {} });
    expect(onKafka({ KAFKA_SSL: 'true', KAFKA_SSL_CA: 'PEM' })).toMatchObject({ tls: { ca: 'PEM' } });
    expect(onKafka({ KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: file })).toMatchObject({
      tls: { ca: expect.stringContaining('encrypt connections') },
    });
  });

  it.each([
    [{ KAFKA_SASL_USERNAME: 'runyard' }, 'KAFKA_SASL_PASSWORD is required with KAFKA_SASL_USERNAME.'],
    [{ KAFKA_SASL_PASSWORD: 'secret' }, 'KAFKA_SASL_USERNAME is required with KAFKA_SASL_PASSWORD.'],
    [{ KAFKA_SASL_MECHANISM: 'plain' }, 'KAFKA_SASL_USERNAME is required with KAFKA_SASL_MECHANISM.'],
    [{ KAFKA_SASL_MECHANISM: 'gssapi' }, 'KAFKA_SASL_MECHANISM must be one of'],
    [{ KAFKA_SSL_CA: 'PEM' }, 'KAFKA_SSL=true is required with KAFKA_SSL_CA.'],
    [{ KAFKA_SSL_CA_FILE: 'ca.pem' }, 'KAFKA_SSL=true is required with KAFKA_SSL_CA_FILE.'],
    [{ KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: '/none' }, 'KAFKA_SSL_CA_FILE cannot be read: ENOENT'],
    [{ KAFKA_SSL: 'true', KAFKA_SSL_CA: 'PEM', KAFKA_SSL_CA_FILE: 'ca.pem' }, 'exclude each other.'],
  ])('are refused by name when %j is incomplete', (environment, sentence) => {
    expect(() => onKafka(environment)).toThrow(ConfigError);
    expect(() => onKafka(environment)).toThrow(sentence);
  });
});
