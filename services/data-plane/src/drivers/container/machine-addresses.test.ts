import { describe, expect, it } from 'vitest';
import type { PlatformSettings } from '../deployment-variables.ts';
import type { RevisionSpec } from '../driver.ts';
import { loopbackEndpoints, toContainerAddresses } from './machine-addresses.ts';

const addresses = (
  changes: Partial<PlatformSettings> = {},
  databaseUri = 'postgres://role:p%40ss@127.0.0.1:5433/db',
  redisUri = 'redis://:secret@localhost',
) => ({
  spec: { databaseUri, redisUri } as RevisionSpec,
  platform: {
    jwksUrl: 'http://[::1]:4001/.well-known/jwks.json',
    publicUrl: 'http://127.0.0.1:2024',
    eventBus: { kind: 'kafka', kafkaBrokers: '127.0.0.1:9092, kafka.example.com:9093', topicPrefix: '' },
    ...changes,
  } as PlatformSettings,
});

describe('a container on this machine', () => {
  it("gets the machine's name in place of loopback addresses, with unchanged ports, passwords and paths", () => {
    const { spec, platform } = toContainerAddresses(addresses());
    expect(spec.databaseUri).toBe('postgres://role:p%40ss@host.docker.internal:5433/db');
    expect(spec.redisUri).toBe('redis://:secret@host.docker.internal');
    expect(platform).toMatchObject({
      jwksUrl: 'http://host.docker.internal:4001/.well-known/jwks.json',
      publicUrl: 'http://127.0.0.1:2024',
      eventBus: { kafkaBrokers: '127.0.0.1:9092, kafka.example.com:9093', kafkaLoopbackHost: 'host.docker.internal' },
    });
    expect(loopbackEndpoints(addresses())).toEqual([
      { host: '127.0.0.1', port: 5433 },
      { host: 'localhost', port: 6379 },
      { host: '::1', port: 4001 },
      { host: '127.0.0.1', port: 9092 },
    ]);
  });

  it('gets other addresses unchanged', () => {
    const elsewhere = addresses(
      {
        jwksUrl: 'https://keys.example.com/jwks.json',
        eventBus: { kind: 'redis', topicPrefix: '' },
      },
      'postgres://role:password@postgres.example.com/db',
      'redis://redis.example.com',
    );
    expect(toContainerAddresses(elsewhere)).toEqual(elsewhere);
    expect(loopbackEndpoints(elsewhere)).toEqual([]);
  });
});
