import { GroupCommitter, isLockTimeout } from '@runyard/database';
import type pg from 'pg';
import type { ExhaustedBudget } from '../budgets/types.ts';
import type { EngineWrites } from '../engine-writes.ts';
import { lockThreads } from '../locks.ts';
import type { ThreadRemovals } from '../threads/thread-removals.ts';
import type { UsedRun } from '../types.ts';
import type { CreationRules } from './create-runs.ts';
import { createRunsOnce } from './create-runs-once.ts';
import type { EncodedRun } from './encode-run.ts';
import { finishRuns } from './finish-runs.ts';
import type { CreatedRun, EncodedFinish, FinishedRun } from './types.ts';
import { WaitingWrites } from './waiting-writes.ts';

/** Milliseconds that a common transaction waits for a lock; items that need longer leave it. */
const LOCK_WAIT_MS = 100;

export interface RunCommitsOptions {
  write: EngineWrites['write'];
  rules: CreationRules;
  removals: ThreadRemovals;
  /** Milliseconds that an item waits for a thread that another transaction holds. */
  lockWaitMs: number;
}

/**
 * Commits the creations and ends of runs; those that arrive at about the same time share a transaction. An item whose
 * thread another transaction holds leaves it, and waits separately.
 */
export class RunCommits {
  readonly #creations: GroupCommitter<EncodedRun, CreatedRun>;
  readonly #waitingCreations: WaitingWrites<EncodedRun, CreatedRun>;
  readonly #finishes: GroupCommitter<EncodedFinish, FinishedRun>;
  readonly #waitingFinishes: WaitingWrites<EncodedFinish, FinishedRun>;
  readonly #usage: GroupCommitter<UsedRun, ExhaustedBudget | undefined>;

  constructor({ write, rules, removals, lockWaitMs: waitMs }: RunCommitsOptions) {
    const { events, budgets } = rules;
    this.#creations = new GroupCommitter({
      name: 'create runs',
      flush: (batch) => write((client) => createRunsOnce(client, batch, rules), { lockTimeoutMs: LOCK_WAIT_MS }),
      keyOf: (item) => item.threadId,
      maxItemsPerKey: 1,
      sizeOf: (item) => item.size,
    });
    this.#waitingCreations = new WaitingWrites({
      name: 'create runs of held threads',
      threadIdOf: (item) => item.threadId,
      waitMs,
      async write(item, lockTimeoutMs) {
        const create = async (client: pg.PoolClient) => {
          await lockThreads(client, [item.threadId]);
          return createRunsOnce(client, [item], rules);
        };
        const [created] = await removals.withFreeId(item.threadId, () => write(create, { lockTimeoutMs }));
        return created!;
      },
    });
    this.#finishes = new GroupCommitter({
      name: 'finish runs',
      flush: (batch) =>
        write((client) => finishRuns(client, batch, events), { lockTimeoutMs: LOCK_WAIT_MS, genericPlans: true }),
      keyOf: (item) => item.fence.threadId,
      maxItemsPerKey: 1,
      sizeOf: (item) => (item.values?.byteLength ?? 0) * 2 + (item.interrupts?.byteLength ?? 0),
    });
    this.#usage = new GroupCommitter({
      name: 'usage of runs',
      async flush(batch) {
        const counted = batch.flatMap(({ runId, tokens }) => (tokens === undefined ? [] : [{ runId, tokens }]));
        const stops = await write(async (client) => {
          await events.writeUsed(client, batch);
          return budgets.countTokens(client, counted);
        });
        return batch.map(({ runId }) => stops.get(runId));
      },
    });
    this.#waitingFinishes = new WaitingWrites({
      name: 'finish runs of held threads',
      threadIdOf: (item) => item.fence.threadId,
      waitMs,
      async write(item, lockTimeoutMs) {
        const [finished] = await write(
          async (client) => {
            await lockThreads(client, [item.fence.threadId]);
            return finishRuns(client, [item], events);
          },
          { lockTimeoutMs, genericPlans: true },
        );
        return finished!;
      },
    });
  }

  create(creation: EncodedRun): Promise<CreatedRun> {
    return submitOrWait(creation, creation.threadId, this.#creations, this.#waitingCreations);
  }

  finish(finish: EncodedFinish): Promise<FinishedRun> {
    return submitOrWait(finish, finish.fence.threadId, this.#finishes, this.#waitingFinishes);
  }

  recordUsage(used: UsedRun): Promise<ExhaustedBudget | undefined> {
    return this.#usage.submit(used);
  }

  /** Resolves when everything submitted is settled. */
  async close(): Promise<void> {
    await Promise.all([this.#creations.close(), this.#finishes.close(), this.#usage.close()]);
    await Promise.all([this.#waitingCreations.close(), this.#waitingFinishes.close()]);
  }
}

async function submitOrWait<Item, Result>(
  item: Item,
  threadId: string,
  together: GroupCommitter<Item, Result>,
  waiting: WaitingWrites<Item, Result>,
): Promise<Result> {
  if (waiting.has(threadId)) return waiting.submit(item);
  try {
    return await together.submit(item);
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    return waiting.submit(item);
  }
}
