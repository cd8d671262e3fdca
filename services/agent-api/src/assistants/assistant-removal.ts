import { NotFoundError } from '@runyard/service-kit';
import type { Scope } from '../access/scope.ts';
import type { AssistantStore } from './assistant-store.ts';

export interface AssistantRemovalOptions {
  store: Pick<AssistantStore, 'delete'>;
  /** Deletes the threads of an assistant, as far as the caller may see them. */
  deleteThreads(scope: Scope, assistantId: string): Promise<void>;
  /** Cancels the runs of an assistant. @throws NotFoundError when none is in flight */
  cancelRuns(assistantId: string, reason: string): Promise<unknown>;
}

export interface AssistantRemovalRequest {
  /** The threads that may be deleted with it; left out to keep them all. */
  threadScope?: Scope;
}

/**
 * Deletes an assistant. Its versions and crons go with its row. Runs in flight are cancelled: nobody could say any more
 * what they are for. Ended runs stay with their threads, as part of the history there. Threads are deleted only on
 * request, and before the assistant, so that an interrupted removal can be requested again.
 */
export class AssistantRemoval {
  readonly #options: AssistantRemovalOptions;

  constructor(options: AssistantRemovalOptions) {
    this.#options = options;
  }

  /** @throws NotFoundError when it does not exist (any more) */
  async remove(scope: Scope, assistantId: string, { threadScope }: AssistantRemovalRequest): Promise<void> {
    const { store, deleteThreads, cancelRuns } = this.#options;
    if (threadScope) await deleteThreads(threadScope, assistantId);
    if (!(await store.delete(scope, assistantId))) {
      throw new NotFoundError(`Assistant with ID ${assistantId} not found`);
    }
    try {
      await cancelRuns(assistantId, 'the assistant was deleted');
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
}
