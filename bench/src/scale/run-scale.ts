import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInfrastructure } from '@runyard/local-infra';
import { startServiceProcess } from '@runyard/test-kit';
import pg from 'pg';
import { generate } from './generate.ts';
import { measureQueries, type QueryTimes } from './measure-queries.ts';
import { createQueryKinds } from './queries.ts';

export interface ScaleOptions {
  threads: number;
  longHistory: number;
  /** The entry file of agent-api. */
  entry: string;
  project: string;
  say: (line: string) => void;
}

/**
 * Measures searching, counting, state and history with that many threads: one agent-api on a Postgres and a Redis of
 * its own, which are deleted afterwards.
 */
export async function runScale({ threads, longHistory, entry, project, say }: ScaleOptions): Promise<QueryTimes[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'runyard-bench-scale-'));
  const closers: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true, force: true })];
  try {
    const servers = await startInfrastructure({ dataDir, servers: ['postgres', 'redis'] });
    closers.push(() => servers.stop());
    const admin = await connect(servers.postgres.adminUrl);
    await admin.query('CREATE DATABASE scale');
    await admin.end();
    const database = new URL(servers.postgres.adminUrl);
    database.pathname = '/scale';
    const service = await startServiceProcess({
      entry,
      env: {
        DEPLOYMENT_ID: 'scale',
        REDIS_KEY_PREFIX: 'scale',
        PROJECT_DIR: project,
        LOG_LEVEL: 'warn',
        EVENT_BUS: 'redis',
        RUNYARD_AUTH: 'none',
      },
      secrets: {
        DATABASE_URI: database.href,
        REDIS_URI: servers.redis.url,
        EVENT_BUS_REDIS_URI: servers.redis.url,
      },
      readyPath: '/ok?check_db=1',
    });
    closers.push(() => service.stop());
    const longId = await makeTemplate(service.url);
    const db = await connect(database.href);
    await generate(db, { threads, longHistory }, longId, say).finally(() => db.end());
    return await measureQueries(service.url, createQueryKinds(threads, longId), say);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Creates a thread with one checkpoint, as the service stores it. */
async function makeTemplate(url: string): Promise<string> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { thread_id: string };
  };
  const { thread_id } = await post('/threads', { graph_id: 'echo' });
  const values = { question: 'A question of the usual length. '.repeat(20) };
  await post(`/threads/${thread_id}/state`, { values, as_node: 'echo' });
  return thread_id;
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, application_name: 'runyard-bench' });
  await client.connect();
  return client;
}
