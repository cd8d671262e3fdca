import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPool } from '@runyard/database';
import { type DataCipher, type EncryptionVariables, type KeyHandlers, openDataCipher } from '@runyard/encryption';
import {
  type AcceptedRun,
  type CreatedRun,
  openProjectCipher,
  RunEngine,
  type RunRecord,
  RunWakeups,
} from '@runyard/run-engine';
import { RunStreams, type StreamEntry } from '@runyard/run-stream';
import { createContext, readConfig } from '@runyard/service-kit';
import {
  createTestDatabase,
  FaultLine,
  HANGS_AFTER_MS,
  startServiceProcess,
  type TestServiceProcess,
  testRedis,
  waitFor,
} from '@runyard/test-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { configSchema } from '../src/config.ts';
import { run } from '../src/run.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../packages/run-engine/prisma/migrations', import.meta.url));
const ENTRY = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const PROJECT = fileURLToPath(new URL('./project', import.meta.url));

/** A deployment without its agent-api, whose part the test plays. Graph hosts are always real processes. */
export interface Deployment {
  engine: RunEngine;
  streams: RunStreams;
  pool: pg.Pool;
  /** Encrypts and decrypts as the deployment does. */
  cipher: DataCipher;
  /** Fault lines to its servers, on which a worker can be cut off. They are closed with it. */
  lines(): Promise<Record<'DATABASE_URI' | 'REDIS_URI', FaultLine>>;
  /** Starts a worker inside this process; resolves when it is ready. */
  startWorker(env?: Record<string, string>): Promise<void>;
  /** Starts a worker that can be killed and suspended. */
  startWorkerProcess(env?: Record<string, string>, options?: { entry?: string }): Promise<TestServiceProcess>;
  /** Accepts a run of one of the project's graphs, as agent-api does. */
  create(graphId: string, options?: NewRun): Promise<CreatedRun['run']>;
  /** Returns the run once it has ended, with the JSON text of its final values. */
  ended(run: { threadId: string; runId: string }): Promise<RunRecord & { result: Uint8Array | null }>;
  /** Returns the run's events up to its end. */
  events(run: { threadId: string; runId: string }): Promise<StreamEntry[]>;
  thread(): Promise<string>;
  /** Creates a file of the test's own, which steps write to. */
  file(): { path: string; lines(): Promise<string[]>; write(text: string): Promise<void> };
  rows(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Returns everything that is in Redis, as one text. */
  redisContents(): Promise<string>;
  close(): Promise<void>;
}

interface NewRun extends Partial<AcceptedRun> {
  input?: unknown;
  command?: unknown;
  resumable?: boolean;
  streamMode?: string[];
  durability?: string;
  /** The checkpoint where the run begins; left out for the thread's newest one. */
  checkpointId?: string;
  /** Further keys of the run's `configurable`. */
  configurable?: Record<string, unknown>;
}

/** Encryption of a deployment's data; left out for none. */
export interface DeploymentEncryption extends EncryptionVariables {
  /** Handlers like those of the project's `encryption.ts`, which encrypts then. */
  projectEncryption?: KeyHandlers;
}

export async function openDeployment({
  projectEncryption: handlers,
  ...variables
}: DeploymentEncryption = {}): Promise<Deployment> {
  const database = await createTestDatabase(MIGRATIONS);
  const redis = testRedis();
  const folder = await mkdtemp(join(tmpdir(), 'run-worker-test-'));
  const connection = { connectionString: database.url, applicationName: 'run-worker-test' };
  const { aesKey, aesJsonKeys } = variables;
  const ofProject = handlers && openProjectCipher({ ...variables, ...connection, handlers, onFailure: console.error });
  const cipher = ofProject?.cipher ?? openDataCipher(variables);
  const pool = openPool({ ...connection, max: 5, beforeRows: (rows) => cipher.loadKeys(rows) });
  const engine = new RunEngine({ pool, deploymentId: 'test', source: '/runyard/test', cipher });
  const streams = new RunStreams({ redis: redis.url, keyPrefix: redis.prefix, cipher });
  const wakeups = new RunWakeups({ redis: redis.url, keyPrefix: redis.prefix });
  const stops: (() => Promise<unknown>)[] = [];
  const openLines: FaultLine[] = [];
  const environment = {
    REDIS_KEY_PREFIX: redis.prefix,
    DEPLOYMENT_ID: 'test',
    REVISION_ID: 'revision-1',
    PROJECT_DIR: PROJECT,
    PROJECT_ENV: JSON.stringify({
      LANGGRAPH_AES_KEY: aesKey,
      LANGGRAPH_AES_JSON_KEYS: aesJsonKeys,
      ...(handlers && { LANGGRAPH_ENCRYPTION: JSON.stringify({ path: './encryption.ts:encryption' }) }),
    }),
    WORKER_LEASE_SECONDS: '2',
    BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '0',
  };
  const secrets = { DATABASE_URI: database.url, REDIS_URI: redis.url };

  return {
    engine,
    streams,
    pool,
    cipher,
    async lines() {
      const [DATABASE_URI, REDIS_URI] = await Promise.all([FaultLine.to(database.url), FaultLine.to(redis.url)]);
      openLines.push(DATABASE_URI, REDIS_URI);
      return { DATABASE_URI, REDIS_URI };
    },
    async startWorker(env = {}) {
      const context = createContext('run-worker', { LOG_LEVEL: 'silent', processMetrics: false });
      stops.push(() => context.lifecycle.stop('the test is over'));
      await run(readConfig(configSchema, { environment: { ...environment, ...secrets, ...env } }), context);
    },
    async startWorkerProcess(env = {}, { entry = ENTRY } = {}) {
      const worker = await startServiceProcess({
        entry,
        readyPath: '/ok?check_db=1',
        env: { ...environment, ...env },
        secrets,
      });
      stops.push(() => worker.stop({ signal: 'SIGKILL' }));
      return worker;
    },
    async create(graphId, options = {}) {
      const { input, command, resumable, streamMode, durability, checkpointId, configurable, ...overrides } = options;
      const created = await engine.createRun({
        runId: uuidv7(),
        keepsThread: true,
        ifThreadMissing: 'reject',
        assistantId: randomUUID(),
        graphId,
        metadata: {},
        multitaskStrategy: 'enqueue',
        ...overrides,
        kwargs: {
          input: input !== undefined ? input : command === undefined ? {} : null,
          ...(command !== undefined && { command }),
          config: {
            configurable: { graph_id: graphId, ...configurable, ...(checkpointId && { checkpoint_id: checkpointId }) },
            ...(overrides.metadata && { metadata: overrides.metadata }),
          },
          stream_mode: streamMode ?? ['values'],
          temporary: overrides.keepsThread === false,
          subgraphs: false,
          resumable: resumable ?? false,
          durability: durability ?? 'async',
        },
      });
      wakeups.wake('created');
      return created.run;
    },
    ended: ({ threadId, runId }) =>
      waitFor(
        async () => {
          const found = await engine.getRun(threadId, runId);
          if (!found || found.status === 'pending' || found.status === 'running') return undefined;
          const outcome = await engine.readOutcome(found);
          return { ...found, result: outcome?.values ?? null };
        },
        { what: 'the end of the run' },
      ),
    async events({ threadId, runId }) {
      const entries: StreamEntry[] = [];
      for await (const entry of streams.read(threadId, { runId, signal: AbortSignal.timeout(HANGS_AFTER_MS) })) {
        entries.push(entry);
        if (entry.kind === 'run.end') return entries;
      }
      throw new Error(`no end among ${JSON.stringify(entries)}`);
    },
    async thread() {
      const { threadId } = await engine.createThread({ threadId: randomUUID(), metadata: {}, ifExists: 'raise' });
      return threadId;
    },
    file() {
      const path = join(folder, randomUUID());
      const read = () => readFile(path, 'utf8').catch(() => '');
      return {
        path,
        lines: async () => (await read()).split('\n').filter((line) => line !== ''),
        write: (text) => writeFile(path, text),
      };
    },
    rows: async (text, values) => (await pool.query(text, values)).rows,
    redisContents: () => redis.contents(),
    async close() {
      await Promise.all(stops.map((stop) => stop()));
      await Promise.all(openLines.map((line) => line.close()));
      await engine.close();
      await Promise.all([pool.end(), ofProject?.close(), streams.close(), wakeups.close()]);
      await Promise.all([database.close(), redis.close(), rm(folder, { recursive: true })]);
    },
  };
}
