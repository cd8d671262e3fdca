import { isRetryable, mayBeFaultOfOneItem, withTransaction } from '@runyard/database';
import type pg from 'pg';
import { BackendError } from '../backend.ts';
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
   * writer after its first failure. Throws errors that the committer can handle by a retry or by separating the
   * operations.
   */
  async flush(operations: CheckpointOperation[]): Promise<(undefined | BackendError)[]> {
    const live = operations.filter(({ writer }) => !writer.failure);
    try {
      // The write can be repeated: if it was committed and the answer was lost, it writes the same keys again.
      if (live.length > 0) await retryWhileUnavailable(this.#unavailableRetryMs, () => this.#write(live));
    } catch (error) {
      if (isRetryable(error) || (live.length > 1 && mayBeFaultOfOneItem(error))) throw error;
      for (const operation of live) operation.writer.failure ??= toWriteError(error, sizeOf(operation));
    }
    return operations.map(({ writer }) => writer.failure);
  }

  async #write(operations: CheckpointOperation[]): Promise<void> {
    await this.#resolveBlobs(operations);
    const steps = stepsOf(operations);
    const [only] = steps;
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
  async #resolveBlobs(operations: CheckpointOperation[]): Promise<void> {
    const puts = operations.filter((operation) => operation.kind === 'put');
    const stored = await this.#storedParents(puts.filter(({ parent }) => parent === 'stored'));
    for (const operation of puts) {
      const parent = operation.parent === 'stored' ? stored.get(operation) : operation.parent?.blobs;
      operation.own.blobs ??= channelBlobs(operation.put, parent);
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

function isDeletion(step: CheckpointOperation[]): step is DeleteOperation[] {
  return step[0]?.kind === 'deleteThread';
}

/** Returns the row limits in the order of the fences, whose positions count from 1. */
function rowsMaxOf(step: DeleteOperation[], fences: number[]): number[] {
  const rowsMax: number[] = [];
  for (const [index, operation] of step.entries()) rowsMax[(fences[index] as number) - 1] = operation.rowsMax;
  return rowsMax;
}

/** Splits the operations into deletions, and sequences of puts and writes that one statement handles. */
function stepsOf(operations: CheckpointOperation[]): CheckpointOperation[][] {
  const steps: CheckpointOperation[][] = [];
  for (const operation of operations) {
    const last = steps.at(-1);
    if (last && (last[0]?.kind === 'deleteThread') === (operation.kind === 'deleteThread')) last.push(operation);
    else steps.push([operation]);
  }
  return steps;
}
