import type { CheckpointBackend, CheckpointPut } from '@runyard/checkpointer';

/**
 * Lets the budgets of a run count what a step has used before the step's checkpoint is answered: the host waits for that
 * answer before it begins the next step, and so a budget that is used up stops the run between the two.
 */
export class BudgetedCheckpoints implements CheckpointBackend {
  readonly get: CheckpointBackend['get'];
  readonly list: CheckpointBackend['list'];
  readonly putWrites: CheckpointBackend['putWrites'];
  readonly deleteThread: CheckpointBackend['deleteThread'];
  readonly channelHistories: CheckpointBackend['channelHistories'];
  readonly #backend: CheckpointBackend;
  readonly #count: () => Promise<void>;

  /** @param count resolves when the budgets have counted what the run has reported */
  constructor(backend: CheckpointBackend, count: () => Promise<void>) {
    this.#backend = backend;
    this.#count = count;
    this.get = backend.get.bind(backend);
    this.list = backend.list.bind(backend);
    this.putWrites = backend.putWrites.bind(backend);
    this.deleteThread = backend.deleteThread.bind(backend);
    this.channelHistories = backend.channelHistories?.bind(backend);
  }

  async put(put: CheckpointPut): Promise<void> {
    await Promise.all([this.#backend.put(put), this.#count()]);
  }
}
