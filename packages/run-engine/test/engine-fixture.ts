import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { openPool } from '@runyard/database';
import { createTestDatabase } from '@runyard/test-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { RunEngine } from '../src/engine.ts';
import type { RunEngineOptions } from '../src/engine-options.ts';
import type { AcceptedRun, ClaimedRun, FinishRun } from '../src/runs/types.ts';

export const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

export interface EngineFixture {
  engine: RunEngine;
  pool: pg.Pool;
  /** Registers a worker and returns its id. */
  worker(revisionId?: string): Promise<string>;
  /** Creates a thread and returns its id. */
  thread(): Promise<string>;
  /** Returns all rows of a query. */
  rows(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** Opens an engine on its own database. */
export async function openEngine(options: Partial<RunEngineOptions> = {}): Promise<EngineFixture> {
  const database = await createTestDatabase(MIGRATIONS);
  const pool = openPool({ connectionString: database.url, max: 12, applicationName: 'run-engine-test' });
  const engine = new RunEngine({
    pool,
    deploymentId: 'test',
    source: '/runyard/test',
    // Nobody renews in tests: on a busy machine, a worker's part of a test may take long.
    leaseMs: 120_000,
    // Tests claim what they have just released.
    releaseDelaysMs: [0],
    ...options,
  });
  return {
    engine,
    pool,
    async worker(revisionId = 'revision-1') {
      const workerId = randomUUID();
      await engine.registerWorker({ workerId, revisionId, slots: 10 });
      return workerId;
    },
    async thread() {
      const { threadId } = await engine.createThread({ threadId: randomUUID(), metadata: {}, ifExists: 'raise' });
      return threadId;
    },
    async rows(text, values) {
      return (await pool.query(text, values)).rows;
    },
    async close() {
      await engine.close();
      await pool.end();
      await database.close();
    },
  };
}

/** Returns a run to create; stateless by default. */
export function aRun(overrides: Partial<AcceptedRun> = {}): AcceptedRun {
  return {
    runId: uuidv7(),
    keepsThread: false,
    ifThreadMissing: 'reject',
    assistantId: randomUUID(),
    graphId: 'agent',
    metadata: {},
    kwargs: { input: { messages: [] } },
    multitaskStrategy: 'enqueue',
    ...overrides,
  };
}

/** Returns a worker's report of a successful run. */
export function success(run: ClaimedRun, overrides: Partial<FinishRun> = {}): FinishRun {
  return {
    fence: run.fence,
    runId: run.runId,
    status: 'success',
    threadStatus: 'idle',
    values: Buffer.from('{"done":true}'),
    interrupts: null,
    checkpointId: '1efb0000-0000-6000-8000-000000000001',
    error: null,
    ...overrides,
  };
}

/** Writes a checkpoint like the checkpointer: lock the fence, compare, and only then write. */
export async function writeCheckpointUnderFence(
  client: pg.ClientBase,
  run: ClaimedRun,
  checkpointId: string,
  namespace = '',
): Promise<'written' | 'fenced'> {
  const { rows } = await client.query('SELECT epoch FROM thread_fence WHERE thread_id = $1 FOR SHARE', [run.threadId]);
  if (rows.length === 0 || BigInt(rows[0].epoch) !== run.fence.epoch) return 'fenced';
  await client.query(
    `INSERT INTO checkpoint (thread_id, checkpoint_ns, checkpoint_id, run_id, data_type, data, metadata, metadata_type,
                             metadata_data, channel_blobs)
     VALUES ($1, $4, $2, $3, 'json', '{}', '{}', 'json', '{}', jsonb_build_object('messages', jsonb_build_array('1', $2::text)))`,
    [run.threadId, checkpointId, run.runId, namespace],
  );
  await client.query(
    `INSERT INTO checkpoint_blob (thread_id, checkpoint_ns, channel, version, checkpoint_id, type, data)
     VALUES ($1, $3, 'messages', '1', $2, 'json', '[]')`,
    [run.threadId, checkpointId, namespace],
  );
  await client.query(
    `INSERT INTO checkpoint_write (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, run_id, channel, type, data)
     VALUES ($1, $4, $2, 'task', 0, $3, 'messages', 'json', '[]')`,
    [run.threadId, checkpointId, run.runId, namespace],
  );
  return 'written';
}
