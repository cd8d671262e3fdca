import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KafkaServer, Servers } from '@runyard/local-infra';
import { kafkaLoginVariables } from '@runyard/service-kit/kafka-access';
import type { TestProject } from 'vitest/node';
import { startBundleServer } from './bundles/bundle-server.ts';
import { bundlesVariable } from './bundles/bundled-entry.ts';
import { kafkaLoginPrefixes, type TestServer, testServerVariables } from './environment.ts';
import { onDatabase } from './postgres.ts';

/**
 * Runs once before all test files. Services are bundled when a test first starts one. Servers named in the environment
 * are used as they are; the others are started for this test run and deleted with their data. Test processes inherit
 * the addresses.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const bundles = await startBundleServer();
  process.env[bundlesVariable] = bundles.url;
  project.onTestsRerun(() => bundles.forget());
  const stopServers = await startMissingServers();
  return async () => {
    await Promise.all([bundles.close(), stopServers()]);
  };
}

async function startMissingServers(): Promise<() => Promise<void>> {
  const missing = (Object.keys(testServerVariables) as TestServer[]).filter(
    (s) => !process.env[testServerVariables[s]],
  );
  if (missing.length === 0) return async () => {};

  const { startInfrastructure } = await import('@runyard/local-infra');
  const dataDir = await mkdtemp(join(tmpdir(), 'runyard-test-'));
  const infrastructure = await startInfrastructure({
    dataDir,
    want: missing,
    requireKafka: process.env.RUNYARD_REQUIRE_INFRA === '1',
    progress: (line) => console.log(`test servers: ${line}`),
  });
  const { postgres, redis, kafka }: Partial<Servers> = infrastructure;
  if (postgres) {
    process.env[testServerVariables.postgres] = postgres.adminUrl;
    await forgoDurability(postgres.adminUrl);
  }
  if (redis) process.env[testServerVariables.redis] = redis.url;
  if (kafka) nameKafka(kafka);
  return async () => {
    await infrastructure.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}

function nameKafka({ brokers, logins }: KafkaServer): void {
  process.env[testServerVariables.kafka] = brokers.join(',');
  for (const user of ['platform', 'deployments'] as const)
    Object.assign(process.env, kafkaLoginVariables(logins?.[user], kafkaLoginPrefixes[user]));
}

/** Disables waiting for the disk: temporary data need not survive a power failure. */
async function forgoDurability(url: string): Promise<void> {
  await onDatabase(url, async (client) => {
    for (const setting of ['fsync', 'full_page_writes']) await client.query(`ALTER SYSTEM SET ${setting} = off`);
    await client.query('SELECT pg_reload_conf()');
  });
}
