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

const agentApi = { name: 'agent-api', schema: configSchema, translate: translateVariables, run };
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const MIGRATIONS = here('../../../packages/run-engine/prisma/migrations');
const PROJECT = here('../../../e2e/projects/probe');

export interface TestDeployment<Service extends TestService = TestService> {
  url: string;
  client: Client;
  /** Fakes the worker, so that the test settles runs. Absent with a real worker. */
  worker: FakeWorker;
  pool: pg.Pool;
  service: Service;
  /** Starts one more agent-api of the same deployment. */
  startAnother(): Promise<TestService>;
  /** Starts one that can be killed. */
  startAnotherProcess(): Promise<TestServiceProcess>;
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
  worker?: 'fake' | 'real';
  env?: Record<string, string>;
  /** True when the process of agent-api itself matters: it is killed, measured, or looked at from outside. */
  hasOwnProcess?: boolean;
}

/**
 * Starts a whole agent-api on a database and a Redis prefix of its own. With `worker: 'real'` a run-worker process
 * executes the runs; otherwise the test fakes the worker, so that it decides what happens when.
 */
export function startDeployment(
  options: DeploymentOptions & { hasOwnProcess: true },
): Promise<TestDeployment<TestServiceProcess>>;
export function startDeployment(options?: DeploymentOptions): Promise<TestDeployment>;
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
  const overLines = { DATABASE_URI: lines.postgres.url, REDIS_URI: lines.redis.url };
  const servers = { DATABASE_URI: database.url, REDIS_URI: redis.url };
  const startProcess = (entry: string, secrets: Record<string, string>) =>
    startServiceProcess({ entry: here(entry), env, secrets, readyPath });
  const services: TestService[] = [];
  const startAnother = async () => {
    const started = await startServiceInProcess(agentApi, { env, secrets: overLines, readyPath });
    services.push(started);
    return started;
  };
  const startAnotherProcess = async () => {
    const started = await startProcess('../src/main.ts', overLines);
    services.push(started);
    return started;
  };
  const [service, realWorker] = await Promise.all([
    options.hasOwnProcess ? startAnotherProcess() : startAnother(),
    options.worker === 'real' ? startProcess('../../run-worker/src/main.ts', servers) : undefined,
  ]);
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
    startAnother,
    startAnotherProcess,
    redis: { redis: redis.url, keyPrefix: redis.prefix },
    lines,
    async contents() {
      const logs = [service, realWorker].map((process) => process?.output() ?? '');
      return [await dumpDatabase(database.url), await redis.contents(), ...logs].join('\n');
    },
    async forgetEvents(threadId) {
      const connection = new Redis(redis.url);
      const keys = await connection.keys(`{${redis.prefix}:${threadId}}:*`);
      if (keys.length > 0) await connection.unlink(...keys);
      connection.disconnect();
    },
    async close() {
      await Promise.all([...services.map((each) => each.stop()), realWorker?.stop(), worker.close()]);
      await Promise.all([pool.end(), lines.postgres.close(), lines.redis.close()]);
      await Promise.all([database.close(), redis.close()]);
    },
  };
}
