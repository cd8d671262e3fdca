import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createServiceSettings, type ServiceSettings } from './service-settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'runyard-service-settings-'));
let database: TestDatabase;
let settings: ServiceSettings[];
beforeAll(async () => {
  database = await createTestDatabase();
  const server = { origin: 'environment', stop: async () => {} } as const;
  const urlOf = (user: string) => `redis://${user}:password@127.0.0.1:6379`;
  ({ settings } = await createServiceSettings({
    repository: folder,
    dataDir: folder,
    servers: {
      postgres: { ...server, adminUrl: database.url },
      redis: { ...server, url: urlOf('platform'), buildsUrl: urlOf('builds'), historyUrl: urlOf('history') },
      kafka: null,
    },
    host: '127.0.0.1',
    port: 0,
    rootFile: join(folder, 'root.json'),
    origins: [],
    reload: 'drain',
    logRuns: false,
    environment: {},
    projectUsers: null,
  }));
});
afterAll(async () => {
  const client = new pg.Client(database.url);
  await client.connect();
  for (const { secrets } of settings.filter(({ secrets }) => secrets.DATABASE_URI)) {
    const name = new URL(secrets.DATABASE_URI!).username;
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.query(`DROP ROLE IF EXISTS ${name}`);
  }
  await client.end();
  await database.close();
  rmSync(folder, { recursive: true });
});

it('the console is below localhost at the port of the gateway, which leads there, and org-access knows it', () => {
  const of = (service: ServiceSettings['name']) => settings.find(({ name }) => name === service)!;
  const [consoleService, gateway] = [of('console'), of('gateway')];
  const url = `http://console.localhost:${gateway.port}`;
  expect([consoleService, gateway, of('org-access')].map(({ env }) => env.CONSOLE_URL)).toEqual([url, url, url]);
  expect(gateway.env.CONSOLE_SERVICE_URL).toBe(`http://127.0.0.1:${consoleService.port}`);
  expect(consoleService.env.GATEWAY_URL).toBe(`http://127.0.0.1:${gateway.port}`);
  expect(Object.keys(consoleService.secrets)).toEqual(['INTERNAL_TOKEN']);
});

it('builder and run-history reach the Redis of builds and of deployments as users of their own', () => {
  const usersOf = (service: ServiceSettings['name'], variable: string) =>
    settings.filter(({ name }) => name === service).map(({ secrets }) => new URL(secrets[variable]!).username);
  expect(usersOf('builder', 'REDIS_URI')).toEqual(['builds']);
  expect(usersOf('run-history', 'DEPLOYMENTS_REDIS_URI')).toEqual(['history']);
  expect(usersOf('data-plane', 'DATA_REDIS_URI')).toEqual(['platform']);
});
