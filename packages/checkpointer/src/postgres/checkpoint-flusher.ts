import { isRetryable, mayBeFaultOfOneItem, repeatDeadlocks, withTransaction } from '@runyard/database';
import type pg from 'pg';
import { BackendError, type CheckpointKey } from '../backend.ts';
import { toWriteError } from './backend-errors.ts';
import { type ChannelBlobs, channelBlobs } from './channel-blobs.ts';
import { type CheckpointOperation, type DeleteOperation, type PutOperation, sizeOf } from './checkpoint-operation.ts';
import { DELETE_PARTS } from './delete-parts.ts';
import { FlushRows } from './flush-rows.ts';
import { FLUSH, PARENT_BLOBS } from './flush-statements.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';

export interface CheckpointFlusherOptions {
  pool: pg.Pool;
  /** Milliseconds for which a flush is retried while Postgres is unavailable. */
  unavailableRetryMs: number;
}

/** Tries of a flush that meets a deadlock. */
const ATTEMPTS = 5;

/** Writes the operations of many runs in one transaction. It must be called by a group committer keyed by thread. */
export class CheckpointFlusher {
  readonly #pool: pg.Pool;
  readonly #unavailableRetryMs: number;

  constructor({ pool, unavailableRetryMs }: CheckpointFlusherOptions) {
    this.#pool = pool;
    this.#unavailableRetryMs = unavailableRetryMs;
  }

  /**
   * Returns `undefined` for committed operations and an error for others: those with a stale fence, and everything of a
   * writer after its first failure. Throws a deadlock that comes again and again, and errors that the committer can
   * handle by separating the operations.
   */
  async flush(operations: CheckpointOperation[]): Promise<(undefined | BackendError)[]> {
    const live = operations.filter(({ writer }) => !writer.failure);
    let tries = 0;
    const write = () => {
      tries += 1;
      const isRepeated = tries > 1;
      return repeatDeadlocks(ATTEMPTS, () => this.#write(live, isRepeated));
    };
    try {
      // The write can be repeated: if it was committed and the answer was lost, it writes the same keys again.
      if (live.length > 0) await retryWhileUnavailable(this.#unavailableRetryMs, write);
    } catch (error) {
      if (isRetryable(error) || (live.length > 1 && mayBeFaultOfOneItem(error))) throw error;
      for (const operation of live) operation.writer.failure ??= toWriteError(error, sizeOf(operation));
    }
    if (tries > 1) for (const { writer } of live) writer.forgetBlobs();
    return operations.map(({ writer }) => writer.failure);
  }

  /** @param isRepeated true after an outage: the database may be another one, which has lost the last commits */
  async #write(operations: CheckpointOperation[], isRepeated: boolean): Promise<void> {
    await this.#resolveBlobs(operations, isRepeated);
    const steps = stepsOf(operations.filter(({ writer }) => !writer.failure));
    const [only] = steps;
    if (steps.length === 0) return;
    if (steps.length === 1 && only) return this.#run(this.#pool, only);
    await withTransaction(this.#pool, async (client) => {
      for (const step of steps) await this.#run(client, step);
    });
  }

  async #run(connection: pg.Pool | pg.PoolClient, step: CheckpointOperation[]): Promise<void> {
    const rows = new FlushRows();
    const fences = step.map((operation) => rows.add(operation));
    const held = await connection.query<{ position: number; hasMore?: boolean }>(
      isDeletion(step)
        ? { ...DELETE_PARTS, values: [...rows.fences(), rowsMaxOf(step, fences)] }
        : { ...FLUSH, values: rows.parameters() },
    );
    const answers = new Map(held.rows.map((row) => [row.position, row]));
    for (const [index, operation] of step.entries()) {
      const answer = answers.get(fences[index] as number);
      if (!answer) operation.writer.failure ??= new BackendError('fenced', 'Another attempt owns this thread now.');
      else if (operation.kind === 'deleteThread') operation.own.hasMore = answer.hasMore ?? false;
    }
  }

  /** Decides for each put which blobs its channels have, in order: a parent may be in the same flush. */
  async #resolveBlobs(operations: CheckpointOperation[], isRepeated: boolean): Promise<void> {
    const puts = operations.filter((operation) => operation.kind === 'put');
    // It has the puts before the one that is looked at: a checkpoint that is put again names itself as its parent.
    const inFlush = new Map<string, PutOperation['own']>();
    const parentOf = ({ put: { key, parentCheckpointId }, parent }: PutOperation) => {
      if (parent === undefined || parentCheckpointId === undefined) return undefined;
      return inFlush.get(nameOf({ ...key, checkpointId: parentCheckpointId })) ?? (isRepeated ? 'stored' : parent);
    };
    const parents = puts.map((operation) => {
      const parent = parentOf(operation);
      inFlush.set(nameOf(operation.put.key), operation.own);
      return parent;
    });
    const stored = await this.#storedParents(puts.filter((_, index) => parents[index] === 'stored'));
    for (const [index, operation] of puts.entries()) {
      const parent = parents[index];
      const blobs = parent === 'stored' ? stored.get(operation) : parent?.blobs;
      // Without its parent, the channels that this checkpoint did not write would read as empty.
      if (isRepeated && parent !== undefined && !blobs) operation.writer.failure ??= lostParentError();
      if (isRepeated) operation.own.blobs = channelBlobs(operation.put, blobs);
      else operation.own.blobs ??= channelBlobs(operation.put, blobs);
    }
  }

  async #storedParents(puts: PutOperation[]): Promise<Map<PutOperation, ChannelBlobs>> {
    if (puts.length === 0) return new Map();
    const { rows } = await this.#pool.query<{ position: number; channel_blobs: ChannelBlobs }>({
      ...PARENT_BLOBS,
      values: [
        puts.map(({ put }) => put.key.threadId),
        puts.map(({ put }) => put.key.namespace),
        puts.map(({ put }) => put.parentCheckpointId),
      ],
    });
    return new Map(rows.map((row) => [puts[row.position - 1] as PutOperation, row.channel_blobs]));
  }
}

function nameOf({ threadId, namespace, checkpointId }: CheckpointKey): string {
  return JSON.stringify([threadId, namespace, checkpointId]);
}

function lostParentError(): BackendError {
  return new BackendError('unreadable', 'The database has lost the checkpoint that this one continues.');
}

function isDeletion(step: CheckpointOperation[]): step is DeleteOperation[] {
  return step[0]?.kind === 'deleteThread';
}

/** Returns the row limits in the order of the fences, whose positions count from 1. */
function rowsMaxOf(step: DeleteOperation[], fences: number[]): number[] {
  const rowsMax: number[] = [];
  for (const [index, operation] of step.entries()) rowsMax[(fences[index] as number) - 1] = operation.rowsMax;
  return rowsMax;
}

/**
 * Splits the operations into deletions, and sequences of puts and writes that one statement handles. It cannot touch a
 * row twice: a checkpoint that is put again belongs to the next one, which finds the values that it has already.
 */
function stepsOf(operations: CheckpointOperation[]): CheckpointOperation[][] {
  const steps: CheckpointOperation[][] = [];
  let inStep = new Set<string>();
  for (const operation of operations) {
    const last = steps.at(-1);
    const name = operation.kind === 'put' ? nameOf(operation.put.key) : undefined;
    const isAlike = (last?.[0]?.kind === 'deleteThread') === (operation.kind === 'deleteThread');
    if (last && isAlike && !(name !== undefined && inStep.has(name))) {
      last.push(operation);
    } else {
      steps.push([operation]);
      inStep = new Set();
    }
    if (name !== undefined) inStep.add(name);
  }
  return steps;
}
