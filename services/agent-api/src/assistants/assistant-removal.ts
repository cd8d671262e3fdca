import { NotFoundError } from '@runyard/service-kit';
import { type Scope, UNRESTRICTED } from '../access/scope.ts';
import type { RunService } from '../runs/run-service.ts';
import type { ThreadService } from '../threads/thread-service.ts';
import type { AssistantStore } from './assistant-store.ts';

export interface AssistantRemovalOptions {
  store: Pick<AssistantStore, 'delete'>;
  threads: Pick<ThreadService, 'search' | 'delete'>;
  /** A function, because the run service itself needs the assistants. */
  runs: () => Pick<RunService, 'cancel'>;
}

const THREADS_AT_ONCE = 4;
const THREADS_PER_PAGE = 200;

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
  async remove(scope: Scope, assistantId: string, { deletesThreads }: { deletesThreads: boolean }): Promise<void> {
    const { store, runs } = this.#options;
    if (deletesThreads) await this.#deleteThreads(scope, assistantId);
    if (!(await store.delete(scope, assistantId))) {
      throw new NotFoundError(`Assistant with ID ${assistantId} not found`);
    }
    const reason = 'the assistant was deleted';
    await ignoreNotFound(runs().cancel(UNRESTRICTED, { assistantId }, 'interrupt', reason));
  }

  async #deleteThreads(scope: Scope, assistantId: string): Promise<void> {
    const { threads } = this.#options;
    const search = { metadata: { assistant_id: assistantId }, select: ['thread_id' as const], limit: THREADS_PER_PAGE };
    for (;;) {
      const { rows } = await threads.search(scope, search);
      if (rows.length === 0) return;
      const workers = Array.from({ length: THREADS_AT_ONCE }, async () => {
        for (let row = rows.pop(); row?.thread_id !== undefined; row = rows.pop()) {
          await ignoreNotFound(threads.delete(scope, row.thread_id));
        }
      });
      await Promise.all(workers);
    }
  }
}

/** Ignores that something was deleted meanwhile, or that there was nothing to do. */
async function ignoreNotFound(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
}
