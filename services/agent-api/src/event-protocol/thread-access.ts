import { setTimeout as pause } from 'node:timers/promises';
import type { StreamEntry } from '@runyard/run-stream';
import { isRestricted, type Scope } from '../access/scope.ts';
import type { ThreadStore } from '../threads/thread-store.ts';

const RETRY_MS = 500;
/** Milliseconds for which entries of a hidden run are left out without another look. */
const HIDDEN_MS = 1_000;

/**
 * Decides whether a subscriber may see the entries of a thread that did not exist, or was another one, when it came.
 * A subscriber gets no sign of the entries that are hidden from it.
 */
export class ThreadAccess {
  readonly #threads: Pick<ThreadStore, 'findWithoutState' | 'isRunVisible'>;
  readonly #scope: Scope;
  readonly #threadId: string;
  #isVisible: boolean;
  #hasLooked = false;
  #hidden: { runId: string; until: number } | undefined;
  #graphName: string | undefined;

  constructor(threads: Pick<ThreadStore, 'findWithoutState' | 'isRunVisible'>, scope: Scope, threadId: string) {
    this.#threads = threads;
    this.#scope = scope;
    this.#threadId = threadId;
    this.#isVisible = !isRestricted(scope);
  }

  /** The graph of the thread's newest run; undefined as long as it is not known. */
  get graphName(): string | undefined {
    return this.#graphName;
  }

  /** Looks anew where a run begins. While the database is away, a new subscriber waits. */
  async admits(entry: Pick<StreamEntry, 'kind' | 'runId'>, signal: AbortSignal): Promise<boolean> {
    if (this.#isVisible && this.#hasLooked && entry.kind !== 'metadata') return true;
    if (this.#hidden?.runId === entry.runId && performance.now() < this.#hidden.until) return false;
    while (!signal.aborted) {
      try {
        await this.#look(entry.runId);
        break;
      } catch {
        if (!isRestricted(this.#scope)) break;
        await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    return this.#isVisible;
  }

  async #look(runId: string): Promise<void> {
    const thread = await this.#threads.findWithoutState(this.#scope, this.#threadId);
    this.#hasLooked = true;
    const graphId = thread?.metadata.graph_id;
    if (typeof graphId === 'string') this.#graphName = graphId;
    if (!isRestricted(this.#scope)) return;
    // The thread of a stateless run is not kept.
    this.#isVisible = thread !== undefined || (runId !== '' && (await this.#threads.isRunVisible(this.#scope, runId)));
    this.#hidden = this.#isVisible ? undefined : { runId, until: performance.now() + HIDDEN_MS };
  }
}
