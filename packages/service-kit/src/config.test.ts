import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { ConfigError, eventBusConfig, readConfig, serviceVariables } from './config.ts';

const schema = Type.Object({
  ...serviceVariables,
  DATABASE_URI: Type.String({ minLength: 1, description: 'Where the data is.' }),
  WORKERS: Type.Integer({ default: 10, minimum: 1 }),
  NAMES: Type.Optional(Type.Array(Type.String())),
  EXTRA: Type.Optional(Type.Object({ a: Type.Integer() })),
});
const read = (environment: Record<string, string>) => readConfig(schema, { environment });

describe('configuration', () => {
  it('turns variables into their types and fills in defaults', () => {
    expect(
      read({ DATABASE_URI: 'x', WORKERS: '3', LOG_JSON: 'yes', NAMES: 'a, b,', EXTRA: '{"a":1}', UNKNOWN: 'y' }),
    ).toEqual({
      HOST: '127.0.0.1',
      PORT: 0,
      LOG_LEVEL: 'info',
      LOG_JSON: true,
      DRAIN_WINDOW_SECONDS: 5,
      HTTP_MAX_REQUESTS_IN_FLIGHT: 500,
      HTTP_MAX_BODY_BYTES_IN_FLIGHT: 536_870_912,
      DATABASE_URI: 'x',
      WORKERS: 3,
      NAMES: ['a', 'b'],
      EXTRA: { a: 1 },
    });
  });

  it('takes an empty variable for an unset one', () => {
    expect(read({ DATABASE_URI: 'x', WORKERS: '' }).WORKERS).toBe(10);
  });

  it('says everything that is wrong, one sentence per variable', () => {
    let problems: string[] = [];
    try {
      read({ WORKERS: '0', PORT: 'http', LOG_LEVEL: 'loud', LOG_JSON: 'maybe', EXTRA: '{' });
    } catch (error) {
      problems = (error as ConfigError).problems;
    }
    expect(problems.sort()).toEqual([
      'DATABASE_URI is required. Where the data is.',
      'EXTRA must be valid JSON.',
      'LOG_JSON must be a boolean.',
      'LOG_LEVEL must be one of "error", "warn", "info", "http", "debug", "silent".',
      'PORT must be an integer.',
      'WORKERS must be at least 1.',
    ]);
  });

  it('asks for the address of the chosen event bus', () => {
    expect(() => eventBusConfig({ EVENT_BUS: 'kafka', TOPIC_PREFIX: '' }, 'x')).toThrow(ConfigError);
    expect(eventBusConfig({ EVENT_BUS: 'kafka', KAFKA_BROKERS: 'a:1, b:2', TOPIC_PREFIX: 'p.' }, 'x')).toEqual({
      kind: 'kafka',
      brokers: ['a:1', 'b:2'],
      clientId: 'x',
      topicPrefix: 'p.',
    });
    const inContainer = { KAFKA_BROKERS: '127.0.0.1:1', KAFKA_LOOPBACK_HOST: 'machine', TOPIC_PREFIX: '' };
    expect(eventBusConfig({ EVENT_BUS: 'kafka', ...inContainer }, 'x')).toMatchObject({ loopbackHost: 'machine' });
  });
});
