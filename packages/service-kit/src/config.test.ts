import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { internalTokenVariable, readConfig, serviceVariables } from './config.ts';
import { ConfigError } from './config-error.ts';
import { ConnectionUri } from './connection-uri.ts';

const schema = Type.Object({
  ...serviceVariables,
  DATABASE_URI: Type.String({ minLength: 1, description: 'Where the data is.' }),
  WORKERS: Type.Integer({ default: 10, minimum: 1 }),
  NAMES: Type.Optional(Type.Array(Type.String())),
  EXTRA: Type.Optional(Type.Object({ a: Type.Integer() })),
});
const read = (environment: Record<string, string>) => readConfig(schema, { environment });

describe('the configuration', () => {
  it('converts variables to their types and fills in defaults', () => {
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

  it('treats an empty variable as unset', () => {
    expect(read({ DATABASE_URI: 'x', WORKERS: '' }).WORKERS).toBe(10);
  });

  it('refuses an internal token that could be guessed, and says how to make one', () => {
    const of = (INTERNAL_TOKEN: string) => () =>
      readConfig(Type.Object({ INTERNAL_TOKEN: internalTokenVariable }), { environment: { INTERNAL_TOKEN } });
    expect(of('made up by somebody')).toThrow(
      'INTERNAL_TOKEN must have at least 32 characters. Secret shared by the services of one platform; `openssl rand -hex 32` makes one.',
    );
    expect(of('0123456789abcdef0123456789abcdef')).not.toThrow();
  });

  it('reports all faults, in one sentence per variable', () => {
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

  it.each([
    ['x'],
    ['redis://:the-password@h:99999/0'],
    ['postgres://ada:the-password/with-a-slash@db:5432/x'],
    ['postgres://ada:%the-password@db:5432/x'],
    ['redis:the-password@h'],
    ['/the-password@h'],
  ])('refuses a server address that its client would misread, without repeating it: %s', (address) => {
    const servers = Type.Object({
      POSTGRES: ConnectionUri('postgres', 'The database.'),
      REDIS: Type.Optional(ConnectionUri('redis', 'The cache.')),
    });
    const encoded = 'with all but letters and digits of the password percent-encoded';
    expect(() => readConfig(servers, { environment: { POSTGRES: address, REDIS: address } })).toThrow(
      new ConfigError([
        `POSTGRES must be a URL like postgres://user:password@host:5432/database, ${encoded}.`,
        `REDIS must be a URL like redis://user:password@host:6379/0, ${encoded}.`,
      ]),
    );
  });

  it.each([
    ['postgres://ada:a%2Fb@db:5432/x?sslmode=require', 'rediss://:p@h:6380'],
    ['postgresql:///x?host=/var/run/postgresql', '/var/run/redis.sock'],
    ['postgres://%2Fvar%2Frun/x', 'redis://[::1]:6379/3'],
  ])('accepts %s and %s as server addresses', (postgres, redis) => {
    const servers = Type.Object({ P: ConnectionUri('postgres', ''), R: ConnectionUri('redis', '') });
    expect(readConfig(servers, { environment: { P: postgres, R: redis } })).toEqual({ P: postgres, R: redis });
  });
});
