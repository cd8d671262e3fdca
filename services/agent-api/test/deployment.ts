import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { openPool } from '@runyard/database';
import {
  createTestDatabase,
  dumpDatabase,
  FaultLine,
  startServiceProcess,
  type TestDatabase,
  type TestRedis,
  type TestServiceProcess,
  testRedis,
} from '@runyard/test-kit';
import { Redis } from 'ioredis';
import type pg from 'pg';
import { FakeWorker } from './fake-worker.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const MIGRATIONS = here('../../../packages/run-engine/prisma/migrations');
const PROJECT = here('../../../e2e/projects/probe');

export interface DeploymentOptions {
  /** `real`: a run-worker process executes the runs. Default: the test fakes the worker and decides what happens when. */
  worker?: 'fake' | 'real';
  env?: Record<string, string>;
}

/** A deployment's processes with their database and Redis prefix, whichever test they serve. */
export interface DeploymentProcesses {
  options: DeploymentOptions;
  database: TestDatabase;
  redis: TestRedis;
  lines: { postgres: FaultLine; redis: FaultLine };
  service: TestServiceProcess;
  realWorker: TestServiceProcess | undefined;
  startAgentApi(): Promise<TestServiceProcess>;
  close(): Promise<void>;
}

export interface TestDeployment {
  url: string;
  client: Client;
  /** Fakes the worker, so that the test settles runs. Absent with a real worker. */
  worker: FakeWorker;
  pool: pg.Pool;
  service: TestServiceProcess;
  /** Starts one more agent-api of the same deployment. */
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

/** Starts a whole agent-api, and the worker of the options, on a database and a Redis prefix of their own. */
export async function startDeployment(options: DeploymentOptions = {}): Promise<TestDeployment> {
  const processes = await startProcesses(options);
  return openDeployment(processes, () => processes.close());
}

export async function startProcesses(options: DeploymentOptions): Promise<DeploymentProcesses> {
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
    // The receivers of webhooks are here.
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
    ...options.env,
  };
  const start = (entry: string, addresses: { DATABASE_URI: string; REDIS_URI: string }) =>
    startServiceProcess({ entry: here(entry), env, secrets: addresses, readyPath: '/ok?check_db=1' });
  const startAgentApi = () => start('../src/main.ts', { DATABASE_URI: lines.postgres.url, REDIS_URI: lines.redis.url });
  const [service, realWorker] = await Promise.all([
    startAgentApi(),
    options.worker === 'real'
      ? start('../../run-worker/src/main.ts', { DATABASE_URI: database.url, REDIS_URI: redis.url })
      : undefined,
  ]);
  return {
    options,
    database,
    redis,
    lines,
    service,
    realWorker,
    startAgentApi,
    async close() {
      await Promise.all([service.stop(), realWorker?.stop()]);
      await Promise.all([lines.postgres.close(), lines.redis.close()]);
      await Promise.all([database.close(), redis.close()]);
    },
  };
}

/**
 * Opens what a test does with running processes.
 *
 * @param release ends or empties the processes, once nothing of the test uses them
 */
export function openDeployment(processes: DeploymentProcesses, release: () => Promise<void>): TestDeployment {
  const { options, database, redis, lines, realWorker } = processes;
  const service = withOutputFromNow(processes.service);
  const logs = [service, ...(realWorker ? [withOutputFromNow(realWorker)] : [])];
  const others: TestServiceProcess[] = [];
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
    async startAnother() {
      const another = await processes.startAgentApi();
      others.push(another);
      return another;
    },
    redis: { redis: redis.url, keyPrefix: redis.prefix },
    lines,
    async contents() {
      return [await dumpDatabase(database.url), await redis.contents(), ...logs.map((log) => log.output())].join('\n');
    },
    async forgetEvents(threadId) {
      const connection = new Redis(redis.url);
      const keys = await connection.keys(`{${redis.prefix}:${threadId}}:*`);
      if (keys.length > 0) await connection.unlink(...keys);
      connection.disconnect();
    },
    async close() {
      await Promise.all([...others.map((other) => other.stop()), worker.close()]);
      await pool.end();
      await release();
    },
  };
}

/** Returns the process without what it wrote for earlier tests. */
function withOutputFromNow(service: TestServiceProcess): TestServiceProcess {
  const earlier = service.output().length;
  return { ...service, output: () => service.output().slice(earlier) };
}
