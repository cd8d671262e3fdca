import { isRetryable, mayBeOfOneItem, withTransaction } from '@runyard/database';
import type pg from 'pg';
import { BackendError } from '../backend.ts';
import { writeError } from './backend-errors.ts';
import { type ChannelBlobs, channelBlobs } from './channel-blobs.ts';
import { type CheckpointOperation, type PutOperation, sizeOf } from './checkpoint-operation.ts';
import { FlushRows } from './flush-rows.ts';
import { DELETE_THREADS, FLUSH, PARENT_BLOBS } from './flush-statements.ts';
import { untilAvailable } from './until-available.ts';

export interface CheckpointFlusherOptions {
  pool: pg.Pool;
  /** How long a flush is tried again while Postgres cannot be reached. */
  unavailableRetryMs: number;
}

/** Writes the operations of many runs in one transaction. To be used under a group committer keyed by thread. */
export class CheckpointFlusher {
  readonly #pool: pg.Pool;
  readonly #unavailableRetryMs: number;

  constructor({ pool, unavailableRetryMs }: CheckpointFlusherOptions) {
    this.#pool = pool;
    this.#unavailableRetryMs = unavailableRetryMs;
  }

  /**
   * Answers `undefined` for what is committed and an error for what is not: an operation whose fence is stale, and everything of
   * a writer after its first failure. Throws what the committer can mend by trying again or by parting the operations.
   */
  async flush(operations: CheckpointOperation[]): Promise<(undefined | BackendError)[]> {
    const live = operations.filter(({ writer }) => !writer.failure);
    try {
      // Safe to repeat: what was committed without our hearing of it is written once more to the same keys.
      if (live.length > 0) await untilAvailable(this.#unavailableRetryMs, () => this.#write(live));
    } catch (error) {
      if (isRetryable(error) || (live.length > 1 && mayBeOfOneItem(error))) throw error;
      for (const operation of live) operation.writer.failure ??= writeError(error, sizeOf(operation));
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
    const isDeletion = step[0]?.kind === 'deleteThread';
    const statement = isDeletion
      ? { ...DELETE_THREADS, values: rows.fences() }
      : { ...FLUSH, values: rows.parameters() };
    const held = await connection.query<{ position: number }>(statement);
    const positions = new Set(held.rows.map(({ position }) => position));
    for (const [index, { writer }] of step.entries()) {
      if (!positions.has(fences[index] as number)) {
        writer.failure ??= new BackendError('fenced', 'Another attempt owns this thread now.');
      }
    }
  }

  /** Settles for each put which blobs its channels have, in order: a parent may be in the same flush. */
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

/** Stretches of puts and writes, which one statement takes, between deletions. */
function stepsOf(operations: CheckpointOperation[]): CheckpointOperation[][] {
  const steps: CheckpointOperation[][] = [];
  for (const operation of operations) {
    const last = steps.at(-1);
    if (last && (last[0]?.kind === 'deleteThread') === (operation.kind === 'deleteThread')) last.push(operation);
    else steps.push([operation]);
  }
  return steps;
}
