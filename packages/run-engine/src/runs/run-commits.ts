import { GroupCommitter } from '@runyard/database';
import type { EngineWrites } from '../engine-writes.ts';
import type { RunEvents } from '../run-events.ts';
import type { ThreadTtl } from '../threads/types.ts';
import type { RunCreation } from './create-runs.ts';
import { createRunsOnce } from './create-runs-once.ts';
import { finishRuns } from './finish-runs.ts';
import type { CreatedRun, FinishedRun, FinishRun } from './types.ts';

export interface RunCommitsOptions {
  write: EngineWrites['write'];
  events: RunEvents;
  threadTtl: ThreadTtl | undefined;
}

/** The beginnings and ends of runs, those that come at about the same time in common transactions. */
export class RunCommits {
  readonly #creations: GroupCommitter<RunCreation, CreatedRun>;
  readonly #finishes: GroupCommitter<FinishRun, FinishedRun>;

  constructor({ write, events, threadTtl }: RunCommitsOptions) {
    this.#creations = new GroupCommitter({
      name: 'create runs',
      flush: (batch) => write((client) => createRunsOnce(client, batch, events, threadTtl)),
      keyOf: (item) => item.threadId,
      maxItemsPerKey: 1,
      sizeOf: (item) => item.size,
    });
    this.#finishes = new GroupCommitter({
      name: 'finish runs',
      flush: (batch) => write((client) => finishRuns(client, batch, events)),
      keyOf: (item) => item.fence.threadId,
      maxItemsPerKey: 1,
      sizeOf: (item) => (item.values?.byteLength ?? 0) * 2 + (item.interrupts?.byteLength ?? 0),
    });
  }

  create(creation: RunCreation): Promise<CreatedRun> {
    return this.#creations.submit(creation);
  }

  finish(finish: FinishRun): Promise<FinishedRun> {
    return this.#finishes.submit(finish);
  }

  /** Resolves when everything submitted is settled. */
  async close(): Promise<void> {
    await Promise.all([this.#creations.close(), this.#finishes.close()]);
  }
}
