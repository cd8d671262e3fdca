import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { translateVariables } from '@runyard/contracts';
import { openPool } from '@runyard/database';
import {
  createTestDatabase,
  dumpDatabase,
  FaultLine,
  startServiceInProcess,
  startServiceProcess,
  type TestService,
  type TestServiceProcess,
  testRedis,
} from '@runyard/test-kit';
import { Redis } from 'ioredis';
import type pg from 'pg';
import { configSchema } from '../src/config.ts';
import { run } from '../src/run.ts';
import { FakeWorker } from './fake-worker.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const MIGRATIONS = here('../../../packages/run-engine/prisma/migrations');
const PROJECT = here('../../../e2e/projects/probe');

export interface TestDeployment {
  url: string;
  client: Client;
  /** Fakes the worker, so that the test settles runs. Absent with a real worker. */
  worker: FakeWorker;
  pool: pg.Pool;
  service: TestService;
  /** Its own process, which can be killed; undefined when it runs inside this one. */
  process: TestServiceProcess | undefined;
  /** Starts one more agent-api of the same deployment, always as a process of its own. */
  startAnother(): Promise<TestServiceProcess>;
  /** The Redis of the deployment, for other processes. */
  redis: { redis: string; keyPrefix: string };
  /** Fault lines between the service (not the worker) and the two servers. */
  lines: { postgres: FaultLine; redis: FaultLine };
  /** Returns, as one text, everything that is in its database, its Redis (streams and bus) and its logs. */
  contents(): Promise<string>;
  /** Removes a thread's events, as a memory limit, or an emptied Redis, does. */
  forgetEvents(threadId: string): Promise<void>;
  close(): Promise<void>;
}

export interface DeploymentOptions {
  /**
   * With `real` a run-worker process executes the runs; otherwise the test fakes the worker, so that it decides what
   * happens when.
   */
  worker?: 'fake' | 'real';
  env?: Record<string, string>;
  /** True when the process of agent-api itself matters: it is killed, or measured. */
  hasOwnProcess?: boolean;
}

/** Starts a whole agent-api on a database and a Redis prefix of its own, in this process or one of its own. */
export async function startDeployment(options: DeploymentOptions = {}): Promise<TestDeployment> {
  const database = await createTestDatabase(MIGRATIONS);
  const redis = testRedis();
  const lines = { postgres: await FaultLine.to(database.url), redis: await FaultLine.to(redis.url) };
  const env = {
    REDIS_KEY_PREFIX: redis.prefix,
    EVENT_BUS: 'redis',
    EVENT_BUS_REDIS_URI: redis.url,
    TOPIC_PREFIX: redis.prefix,
    PROJECT_DIR: PROJECT,
    // Bundling its components takes a second, and few tests look at them.
    LANGGRAPH_UI: '{}',
    DEPLOYMENT_ID: randomUUID(),
    REVISION_ID: randomUUID(),
    RUNYARD_AUTH: 'none',
    BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '1',
    ...options.env,
  };
  const readyPath = '/ok?check_db=1';
  const start = (entry: string, addresses: { DATABASE_URI: string; REDIS_URI: string }) =>
    startServiceProcess({ entry: here(entry), env, secrets: addresses, readyPath });
  const secrets = { DATABASE_URI: lines.postgres.url, REDIS_URI: lines.redis.url };
  const startAgentApi = () =>
    startServiceInProcess(
      { name: 'agent-api', schema: configSchema, translate: translateVariables, run },
      { env: { ...env, PROJECT_ENV: withSettings(env) }, secrets, readyPath },
    );
  const others: TestServiceProcess[] = [];
  const [process, realWorker] = await Promise.all([
    options.hasOwnProcess ? start('../src/main.ts', secrets) : undefined,
    options.worker === 'real'
      ? start('../../run-worker/src/main.ts', { DATABASE_URI: database.url, REDIS_URI: redis.url })
      : undefined,
  ]);
  const service = process ?? (await startAgentApi());
  const pool = openPool({ connectionString: database.url, max: 4, applicationName: 'agent-api-test' });
  const worker = new FakeWorker({
    pool,
    redis: redis.url,
    keyPrefix: redis.prefix,
    aesKey: options.env?.LANGGRAPH_AES_KEY,
  });
  return {
    url: service.url,
    client: new Client({ apiUrl: service.url, apiKey: null, callerOptions: { maxRetries: 0 } }),
    worker,
    pool,
    service,
    process,
    async startAnother() {
      const another = await start('../src/main.ts', secrets);
      others.push(another);
      return another;
    },
    redis: { redis: redis.url, keyPrefix: redis.prefix },
    lines,
    async contents() {
      const logs = [service, realWorker].map((each) => each?.output() ?? '');
      return [await dumpDatabase(database.url), await redis.contents(), ...logs].join('\n');
    },
    async forgetEvents(threadId) {
      const connection = new Redis(redis.url);
      const keys = await connection.keys(`{${redis.prefix}:${threadId}}:*`);
      if (keys.length > 0) await connection.unlink(...keys);
      connection.disconnect();
    },
    async close() {
      await Promise.all([service.stop(), ...others.map((other) => other.stop()), realWorker?.stop(), worker.close()]);
      await Promise.all([pool.end(), lines.postgres.close(), lines.redis.close()]);
      await Promise.all([database.close(), redis.close()]);
    },
  };
}

/** Returns the variables of the project with the settings among those of the service, whose environment is not this one. */
function withSettings({ PROJECT_ENV = '{}', ...env }: Record<string, string>): string {
  const settings = Object.entries(env).filter(([name]) => name.startsWith('LANGGRAPH_'));
  return JSON.stringify({ ...Object.fromEntries(settings), ...JSON.parse(PROJECT_ENV) });
}
