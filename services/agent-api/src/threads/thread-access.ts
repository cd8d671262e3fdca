import { setTimeout as pause } from 'node:timers/promises';
import type { StreamEntry } from '@runyard/run-stream';
import { isRestricted, type Scope } from '../access/scope.ts';
import type { ThreadStore } from './thread-store.ts';

const RETRY_MS = 500;
/** Milliseconds for which entries of a hidden run are left out without another look. */
const HIDDEN_MS = 1_000;

/**
 * Decides whether a subscriber may see the entries of a thread that did not exist, or was another one, when it came.
 * Entries of a stateless run with the thread's id are for its own user alone. A subscriber gets no sign of the entries
 * that are hidden from it.
 */
export class ThreadAccess {
  readonly #threads: Pick<ThreadStore, 'findWithoutState' | 'isStatelessRunVisible'>;
  readonly #scope: Scope;
  readonly #threadId: string;
  /** The verdict on the entries of one run, or on those of none. Hidden ones are looked at anew after a while. */
  #known: { runId: string; isVisible: boolean; until: number } | undefined;
  #graphName: string | undefined;

  constructor(
    threads: Pick<ThreadStore, 'findWithoutState' | 'isStatelessRunVisible'>,
    scope: Scope,
    threadId: string,
  ) {
    this.#threads = threads;
    this.#scope = scope;
    this.#threadId = threadId;
  }

  /** The graph of the thread's newest run; undefined as long as it is not known. */
  get graphName(): string | undefined {
    return this.#graphName;
  }

  /** Looks anew where a run begins. While the database is away, a new subscriber waits. */
  async admits({ kind, runId }: Pick<StreamEntry, 'kind' | 'runId'>, signal: AbortSignal): Promise<boolean> {
    const known = this.#known;
    const isOfKnown = known !== undefined && (!isRestricted(this.#scope) || known.runId === runId);
    if (isOfKnown && known.isVisible && kind !== 'metadata') return true;
    if (isOfKnown && !known.isVisible && performance.now() < known.until) return false;
    while (!signal.aborted) {
      try {
        return await this.#look(runId);
      } catch {
        if (!isRestricted(this.#scope)) return true;
        await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    return false;
  }

  async #look(runId: string): Promise<boolean> {
    const thread = await this.#threads.findWithoutState(this.#scope, this.#threadId);
    const graphId = thread?.metadata.graph_id;
    if (typeof graphId === 'string') this.#graphName = graphId;
    const isVisible = !isRestricted(this.#scope) || (await this.#isVisible(runId, thread !== undefined));
    this.#known = { runId, isVisible, until: performance.now() + HIDDEN_MS };
    return isVisible;
  }

  async #isVisible(runId: string, isThreadVisible: boolean): Promise<boolean> {
    const ofStateless = runId === '' ? undefined : await this.#threads.isStatelessRunVisible(this.#scope, runId);
    return ofStateless ?? isThreadVisible;
  }
}
