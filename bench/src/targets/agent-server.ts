import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInfrastructure } from '@runyard/local-infra';
import { startServiceProcess, type TestServiceProcess } from '@runyard/test-kit';
import pg from 'pg';
import type { Target } from './target.ts';

const REVISION = 'bench';

export interface AgentServer extends Target {
  rootPid: number;
  databaseUrl: string;
  redisUrl: string;
}

/**
 * Starts one agent-api and one run-worker on a Postgres and a Redis of their own, reached without the gateway and
 * without authentication: it shows the platform's time without the edge.
 */
export async function startAgentServer({
  repository,
  project,
  name = 'agent-api',
  env: more = {},
  headers = {},
}: {
  repository: string;
  project: string;
  name?: string;
  /** Variables of its processes. */
  env?: Record<string, string>;
  /** Headers of its clients. */
  headers?: Record<string, string>;
}): Promise<AgentServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'runyard-bench-direct-'));
  const servers = await startInfrastructure({ dataDir, servers: ['postgres', 'redis'] });
  const started: TestServiceProcess[] = [];
  const stop = async () => {
    for (const service of started.toReversed()) await service.stop();
    await servers.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const database = new URL(servers.postgres.adminUrl);
    database.pathname = '/bench';
    await query(servers.postgres.adminUrl, 'CREATE DATABASE bench');
    const entry = (service: string) => join(repository, 'services', service, 'dist/main.js');
    const env = {
      DEPLOYMENT_ID: 'bench',
      REVISION_ID: REVISION,
      REDIS_KEY_PREFIX: 'bench',
      PROJECT_DIR: project,
      LOG_LEVEL: 'warn',
      EVENT_BUS: 'redis',
      RUNYARD_AUTH: 'none',
      ...more,
    };
    const secrets = {
      DATABASE_URI: database.href,
      REDIS_URI: servers.redis.url,
      EVENT_BUS_REDIS_URI: servers.redis.url,
    };
    const ready = { readyPath: '/ok?check_db=1' };
    started.push(await startServiceProcess({ entry: entry('agent-api'), env, secrets, ...ready }));
    await query(database.href, `UPDATE deployment SET active_revision = '${REVISION}'`);
    started.push(await startServiceProcess({ entry: entry('run-worker'), env, secrets, ...ready }));
    const [agentApi, worker] = started as [TestServiceProcess, TestServiceProcess];
    return {
      name,
      url: agentApi.url,
      headers,
      observed: [agentApi, worker].map(({ url }) => ({ url, headers: {} })),
      rootPid: process.pid,
      databaseUrl: database.href,
      redisUrl: servers.redis.url,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function query(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString, application_name: 'runyard-bench' });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
