import { GroupCommitter } from '@runyard/database';
import { type DataCipher, NO_ENCRYPTION } from '@runyard/encryption';
import type { Fence } from '@runyard/run-engine';
import type { Metrics } from '@runyard/service-kit';
import type pg from 'pg';
import { BackendError, type CheckpointBackend, type CheckpointKey } from '../backend.ts';
import { encryptCheckpoints } from '../encryption/encrypt-checkpoints.ts';
import { CheckpointFlusher } from './checkpoint-flusher.ts';
import { type CheckpointOperation, sizeOf } from './checkpoint-operation.ts';
import { type CheckpointOrigin, CheckpointReader } from './checkpoint-reader.ts';
import type { StreamPositionQuery } from './newest-stream-position.ts';
import { RunCheckpoints, toMarkFilter } from './run-checkpoints.ts';

export interface PostgresCheckpointsOptions {
  /** Pool of the deployment's database. Its statement timeout must be shorter than the lease of a run. */
  pool: pg.Pool;
  metrics?: Metrics;
  /** Is called with threads of which checkpoints have become durable. */
  onCommitted?: (threadIds: Set<string>) => void;
  /** Is called when a checkpoint or write was refused because the thread has another owner. */
  onStaleWrite?: () => void;
  /**
   * Milliseconds for which a write is retried while Postgres is unavailable. Default 10 s; it must be shorter than the
   * lease of a run.
   */
  unavailableRetryMs?: number;
  /** Milliseconds for which a read is retried. Default: it fails at once. */
  readRetryMs?: number;
  /** Encrypts values. Default: no encryption. */
  cipher?: DataCipher;
}

/**
 * The checkpoints of a deployment in Postgres. A process needs one instance: all runs of the process share its commits.
 *
 * It guarantees for each owner of a fence:
 * - An operation that has resolved is durable.
 * - Operations become durable in the order they were called, so that a checkpoint never exists without the writes it
 * came from.
 * - Once another attempt, a cancel or a rollback has taken the thread over, nothing more is written (`fenced`).
 */
export class PostgresCheckpoints {
  readonly #reader: CheckpointReader;
  readonly #cipher: DataCipher;
  readonly #committer: GroupCommitter<CheckpointOperation, undefined>;

  constructor(options: PostgresCheckpointsOptions) {
    const { pool, metrics, onStaleWrite, onCommitted, unavailableRetryMs = 10_000, readRetryMs } = options;
    const { cipher = NO_ENCRYPTION } = options;
    this.#cipher = cipher;
    this.#reader = new CheckpointReader(pool, readRetryMs);
    const flusher = new CheckpointFlusher({ pool, unavailableRetryMs });
    const seconds = metrics?.histogram(
      'checkpoint_flush_seconds',
      'Time to commit a flush of checkpoints and writes',
      ['outcome'],
      [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5],
    );
    const items = metrics?.counter('checkpoint_operations_total', 'Checkpoints and writes given to the database');
    const refused = metrics?.counter(
      'checkpoint_operations_refused_total',
      'Checkpoints and writes not stored: fenced is a stale attempt held off',
      ['reason'],
    );
    this.#committer = new GroupCommitter<CheckpointOperation, undefined>({
      name: 'checkpoints',
      async flush(operations) {
        const results = await flusher.flush(operations);
        for (const result of results) {
          if (result) refused?.inc({ reason: result.reason });
          if (result?.reason === 'fenced') onStaleWrite?.();
        }
        const durable = operations.filter(({ kind }, index) => kind === 'put' && results[index] === undefined);
        if (durable.length > 0) onCommitted?.(new Set(durable.map(({ writer }) => writer.fence.threadId)));
        return results;
      },
      sizeOf,
      keyOf: ({ writer }) => writer.fence.threadId,
      maxConcurrentFlushes: 2,
      onFlush: (report) => {
        seconds?.observe({ outcome: report.outcome }, report.durationMs / 1000);
        items?.inc(report.items);
      },
    });
  }

  /**
   * Returns the backend of a run, or of a state update (a fence without a run id). It reads, and writes its own thread
   * only. `findMarked` finds what was written with the mark, even when the writer died.
   */
  forRun(fence: Fence, mark?: string): CheckpointBackend {
    return encryptCheckpoints(new RunCheckpoints(fence, this.#reader, this.#committer, mark), this.#cipher);
  }

  /** Returns the newest checkpoint of a thread that was written with this mark. */
  async findMarked(threadId: string, mark: string): Promise<CheckpointKey | undefined> {
    const [found] = await this.#reader.list({ threadId, filter: toMarkFilter(mark), limit: 1 });
    return found?.stored.key;
  }

  has(key: CheckpointKey): Promise<boolean> {
    return this.#reader.has(key);
  }

  /** Returns a backend that refuses every write. */
  readOnly(): CheckpointBackend {
    const refuse = () => Promise.reject(new BackendError('invalid', 'Checkpoints are only read here.'));
    const reading: CheckpointBackend = {
      get: async (threadId, namespace, checkpointId) =>
        (await this.#reader.get(threadId, namespace, checkpointId))?.stored,
      list: async (query) => (await this.#reader.list(query)).map(({ stored }) => stored),
      channelHistories: (key, channels) => this.#reader.channelHistories(key, channels),
      put: refuse,
      putWrites: refuse,
      deleteThread: refuse,
    };
    return encryptCheckpoints(reading, this.#cipher);
  }

  /** Returns the id of a thread's newest checkpoint of the root graph. */
  latestCheckpoint(threadId: string): Promise<string | undefined> {
    return this.#reader.newestId(threadId);
  }

  /**
   * Returns the run that made a thread's newest state, if a run made it. The run and its assistant may have been
   * deleted.
   */
  newestOrigin(threadId: string): Promise<CheckpointOrigin | undefined> {
    return this.#reader.newestOrigin(threadId);
  }

  /**
   * Returns the highest `streamPosition` of what earlier attempts of a run have written and its next one goes on from;
   * undefined when nothing has one. The caller owns the thread, so that none of them writes any more.
   */
  newestStreamPosition(query: StreamPositionQuery): Promise<number | undefined> {
    return this.#reader.newestStreamPosition(query);
  }

  /** Commits waiting operations and accepts no more. */
  async close(): Promise<void> {
    await this.#committer.close();
  }
}
