import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { checkPooler, openPool, withTransaction } from '@runyard/database';
import {
  createTestDatabase,
  startServiceProcess,
  type TestDatabase,
  type TestRedis,
  type TestServiceProcess,
  testRedis,
  waitFor,
  withDatabaseClient,
} from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type PgBouncer, readPgBouncerVersion, startPgBouncer } from './pgbouncer-server.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const AGENT_API = at('../../services/agent-api/src/main.ts');
const RUN_WORKER = at('../../services/run-worker/src/main.ts');
/** Without it, versions that could keep prepared statements keep none. */
const { major, minor } = await readPgBouncerVersion();
const KEEPS_STATEMENTS = major > 1 || minor >= 21;

let database: TestDatabase;
let pgbouncer: PgBouncer;
beforeAll(async () => {
  database = await createTestDatabase();
  pgbouncer = await startPgBouncer(database.url, KEEPS_STATEMENTS ? { max_prepared_statements: '0' } : {});
});
afterAll(async () => {
  await pgbouncer?.stop();
  await database?.close();
});

describe('a pool behind a transaction pooler', () => {
  const pools: pg.Pool[] = [];
  afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.end())));
  const open = (options: Partial<Parameters<typeof openPool>[0]> = {}) => {
    const connectionString = pgbouncer.urlOf(database.name);
    const pool = openPool({ connectionString, max: 2, applicationName: 'pgbouncer-test', ...options });
    pools.push(pool);
    return pool;
  };
  /** Checks a pooler of its own with these settings, as services do at their start. */
  const checkThrough = async (settings: Parameters<typeof startPgBouncer>[1]) => {
    const pooler = await startPgBouncer(database.url, settings);
    const pool = openPool({ connectionString: pooler.urlOf(database.name), max: 2, applicationName: 'pgbouncer-test' });
    try {
      await checkPooler(pool);
    } finally {
      await pool.end();
      await pooler.stop();
    }
  };

  it('limits its transactions, whoever begins them, although the pooler ignores the limits of connections', async () => {
    const limits = { statementTimeoutMs: 1234, lockTimeoutMs: 432, idleInTransactionTimeoutMs: 5678 };
    const pool = open({ ...limits, preparedStatements: false, max: 1 });
    const show = async (client: Pick<pg.ClientBase, 'query'>) => {
      const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
      const { rows } = await client.query('SELECT current_setting(name) AS value FROM unnest($1::text[]) AS name', [
        names,
      ]);
      return rows.map(({ value }) => value);
    };
    expect(await show(pool as Pick<pg.ClientBase, 'query'>)).toEqual(['0', '0', '0']);
    // The first transaction of a connection finds out that there is a pooler.
    for (let round = 0; round < 2; round += 1) {
      expect(await withTransaction(pool, show)).toEqual(['1234ms', '432ms', '5678ms']);
      expect(await withTransaction(pool, show, { lockTimeoutMs: 7 })).toEqual(['1234ms', '7ms', '5678ms']);
    }
  });

  it('is refused with prepared statements that the pooler does not keep, and taken without', async () => {
    await expect(checkPooler(open())).rejects.toThrow(/PgBouncer 1\.21.*DATABASE_PREPARED_STATEMENTS=off/);
    await checkPooler(open({ preparedStatements: false }));
    await checkPooler(open({ connectionString: database.url }));
  });

  it('is taken with prepared statements where each connection has a session of its own', async () => {
    await checkThrough({ pool_mode: 'session' });
  });

  it.runIf(KEEPS_STATEMENTS)('is taken with prepared statements that the pooler keeps', async () => {
    await checkThrough({ max_prepared_statements: '100' });
  });
});

describe('a deployment behind a transaction pooler', () => {
  let redis: TestRedis;
  let agentApi: TestServiceProcess;
  let worker: TestServiceProcess;
  let client: Client;
  const start = (entry: string, env: Record<string, string> = {}) =>
    startServiceProcess({
      entry,
      readyPath: '/ok?check_db=1',
      env: {
        DATABASE_PREPARED_STATEMENTS: 'off',
        REDIS_KEY_PREFIX: redis.prefix,
        EVENT_BUS: 'redis',
        EVENT_BUS_REDIS_URI: redis.url,
        TOPIC_PREFIX: redis.prefix,
        PROJECT_DIR: at('../projects/probe'),
        LANGGRAPH_UI: '{}',
        RUNYARD_AUTH: 'none',
        WORKER_LEASE_SECONDS: '2',
        BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '1',
        ...env,
      },
      secrets: { DATABASE_URI: pgbouncer.urlOf(database.name), REDIS_URI: redis.url },
    });
  beforeAll(async () => {
    redis = testRedis();
    // It makes the tables through the pooler too.
    agentApi = await start(AGENT_API);
    worker = await start(RUN_WORKER);
    client = new Client({ apiUrl: agentApi.url, apiKey: null, callerOptions: { maxRetries: 0 } });
  });
  afterAll(async () => {
    await Promise.all([agentApi?.stop(), worker?.stop()]);
    await redis?.close();
  });
  const slowRun = (steps: number, stepMs: number) => ({ input: { steps, stepMs, name: randomUUID() } });
  const statusOf = async (threadId: string, runId: string) => (await client.runs.get(threadId, runId)).status;

  it('answers runs, streams, states and searches', async () => {
    const { thread_id: id } = await client.threads.create({ metadata: { kind: 'pooled' } });
    const input = { messages: [{ role: 'user', content: 'hello' }] };
    expect(JSON.stringify(await client.runs.wait(id, 'echo', { input }))).toContain('echo: hello');
    const events: string[] = [];
    for await (const { event } of client.runs.stream(id, 'echo', { input, streamMode: 'values' })) events.push(event);
    expect(events).toEqual(['metadata', 'values', 'values']);
    await client.threads.updateState(id, { values: { messages: [{ role: 'user', content: 'by hand' }] } });
    expect(JSON.stringify((await client.threads.getState(id)).values)).toContain('by hand');
    expect((await client.threads.getHistory(id)).length).toBeGreaterThan(2);
    const found = await client.threads.search({ metadata: { kind: 'pooled' } });
    expect(found.map(({ thread_id }) => thread_id)).toEqual([id]);
  });

  it('answers many runs at once, whose statements meet each session', async () => {
    const runs = Array.from({ length: 40 }, (_, index) =>
      client.runs.wait(null, 'echo', { input: { messages: [{ role: 'user', content: `number ${index}` }] } }),
    );
    const answers = (await Promise.all(runs)).map((answer) => JSON.stringify(answer));
    expect(answers.map((answer, index) => answer.includes(`echo: number ${index}`))).not.toContain(false);
  });

  it('cancels a run', async () => {
    const { thread_id: id } = await client.threads.create();
    const run = await client.runs.create(id, 'slow', slowRun(1, 60_000));
    await waitFor(async () => (await statusOf(id, run.run_id)) === 'running');
    await client.runs.cancel(id, run.run_id, true);
    expect(await statusOf(id, run.run_id)).toBe('interrupted');
  });

  it('takes a run from a worker that stopped in a transaction, once the limit has ended its session', async () => {
    const { thread_id: id } = await client.threads.create();
    const run = await client.runs.create(id, 'slow', slowRun(2, 300));
    await waitFor(async () => (await statusOf(id, run.run_id)) === 'running');
    const query = (text: string, values: unknown[] = []) =>
      withDatabaseClient(database.url, async (direct) => (await direct.query(text, values)).rows);
    const endedByLimits = async () =>
      Number((await query('SELECT sessions_fatal AS n FROM pg_stat_database WHERE datname = current_database()'))[0].n);
    const before = await endedByLimits();
    await withDatabaseClient(database.url, async (holder) => {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM run WHERE run_id = $1 FOR NO KEY UPDATE', [run.run_id]);
      // The transaction that ends the run holds the thread and waits for the run, longer than a common one may.
      await waitFor(
        async () =>
          (
            await query(
              `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                 AND query LIKE '%thread_fence f JOIN run r%' AND query_start < clock_timestamp() - interval '150 ms'`,
            )
          ).length > 0,
        { what: 'the end of the run to wait', intervalMs: 10 },
      );
      process.kill(worker.pid, 'SIGSTOP');
      await holder.query('COMMIT');
    });
    const stopped = worker;
    try {
      await waitFor(
        async () =>
          (
            await query(
              `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`,
            )
          ).length > 0,
        { what: 'a session that nobody goes on with', intervalMs: 10 },
      );
      worker = await start(RUN_WORKER);
      await waitFor(async () => (await statusOf(id, run.run_id)) === 'success', { what: 'the end of the run' });
      await waitFor(async () => (await endedByLimits()) > before, { what: 'the end of the session' });
    } finally {
      await stopped.stop({ signal: 'SIGKILL' });
    }
  });
});

it('a service does not start behind a pooler that loses prepared statements, and says what to do', async () => {
  const redis = testRedis();
  const agentApi = await startServiceProcess({
    entry: AGENT_API,
    readyPath: null,
    env: { PROJECT_DIR: at('../projects/probe'), RUNYARD_AUTH: 'none', REDIS_KEY_PREFIX: redis.prefix },
    secrets: { DATABASE_URI: pgbouncer.urlOf(database.name), REDIS_URI: redis.url },
  });
  expect((await agentApi.exited).code).toBe(78);
  expect(agentApi.output()).toContain('DATABASE_PREPARED_STATEMENTS=off');
  await redis.close();
});
