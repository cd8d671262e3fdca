import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { kafkaLoginVariables } from '@runyard/service-kit/kafka-access';
import {
  hasEnded,
  kafkaLoginPrefixes,
  type TestServer,
  testServerVariables,
  withDatabaseClient,
} from '@runyard/test-kit';
import { type KafkaServer, type Servers, startInfrastructure } from '../src/index.ts';

/** Begins the name of the folder with the servers' data, before the number of the process that made it. */
const PREFIX = 'runyard-test-';
/** File system in memory, on Linux, and the bytes that have to be free in it and beside it for the data of servers. */
const MEMORY = { folder: '/dev/shm', free: 2 ** 31, freeBeside: 2 ** 32 };

/**
 * Runs once before all test files. Servers named in the environment are used as they are; the others are started for
 * this test run and deleted with their data. Test processes inherit the addresses.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  const servers = Object.keys(testServerVariables) as TestServer[];
  const missing = servers.filter((server) => !process.env[testServerVariables[server]]);
  if (missing.length === 0) return undefined;

  const dataDir = await mkdtemp(join(await chooseParent(), `${PREFIX}${process.pid}-`));
  const infrastructure = await startInfrastructure({
    dataDir,
    servers: missing,
    requireKafka: process.env.RUNYARD_REQUIRE_INFRA === '1',
    progress: (line) => console.log(`test servers: ${line}`),
  });
  const { postgres, redis, kafka }: Partial<Servers> = infrastructure;
  if (postgres) {
    process.env[testServerVariables.postgres] = postgres.adminUrl;
    await disableDurability(postgres.adminUrl);
  }
  if (redis) process.env[testServerVariables.redis] = redis.url;
  if (kafka) setKafkaVariables(kafka);
  return async () => {
    await infrastructure.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}

/**
 * Most test files have databases of their own, each some hundred files. To create and delete them took a tenth of all
 * processor time on a disk.
 */
async function chooseParent(): Promise<string> {
  await removeLeftovers();
  const { bavail, bsize } = await statfs(MEMORY.folder).catch(() => ({ bavail: 0, bsize: 0 }));
  const hasRoom = bavail * bsize >= MEMORY.free && freemem() >= MEMORY.free + MEMORY.freeBeside;
  return hasRoom ? MEMORY.folder : tmpdir();
}

/** A run that was killed keeps memory until its folder is gone. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(MEMORY.folder).catch(() => [] as string[]))
    if (name.startsWith(PREFIX) && hasEnded(Number(name.slice(PREFIX.length).split('-')[0])))
      await rm(join(MEMORY.folder, name), { recursive: true, force: true });
}

function setKafkaVariables({ brokers, logins }: KafkaServer): void {
  process.env[testServerVariables.kafka] = brokers.join(',');
  for (const user of ['platform', 'deployments'] as const)
    Object.assign(process.env, kafkaLoginVariables(logins?.[user], kafkaLoginPrefixes[user]));
}

/** Disables waiting for the disk: temporary data need not survive a power failure. */
async function disableDurability(url: string): Promise<void> {
  await withDatabaseClient(url, async (client) => {
    for (const setting of ['fsync', 'full_page_writes']) await client.query(`ALTER SYSTEM SET ${setting} = off`);
    await client.query('SELECT pg_reload_conf()');
  });
}
