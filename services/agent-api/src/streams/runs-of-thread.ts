import { CONTROL_KINDS, type StreamEntry } from '@runyard/run-stream';
import type { MissingEnds } from './missing-ends.ts';
import type { RunWatch } from './run-watch.ts';

export interface RunsOfThreadSources {
  /** Checks whether runs have ended whose end event did not come. */
  watch: RunWatch;
  /** Publishes the end event then. */
  ends: Pick<MissingEnds, 'findOrPublish'>;
}

/** Ended runs that one stream remembers. */
const MAX_ENDED = 1_000;

/**
 * Remembers what a thread's stream has sent of its runs, and watches those without an end. One thread seldom has more
 * than one.
 */
export class RunsOfThread {
  readonly #threadId: string;
  readonly #sources: RunsOfThreadSources;
  readonly #unwatch = new Map<string, () => void>();
  readonly #ended = new Set<string>();

  constructor(threadId: string, sources: RunsOfThreadSources) {
    this.#threadId = threadId;
    this.#sources = sources;
  }

  /**
   * Returns false for entries of a run after its end: when Redis was emptied, nobody can know that the end was
   * published before.
   */
  observe({ runId, kind }: StreamEntry): boolean {
    // These belong to no run: a gap of the whole thread, and writes from outside a run.
    if (runId === '' || kind === CONTROL_KINDS.state) return true;
    if (this.#ended.has(runId)) return false;
    if (kind === CONTROL_KINDS.end) this.#end(runId);
    // A gap may stand where a finished run, or a write from outside a run, has lost something.
    else if (kind !== CONTROL_KINDS.gap && !this.#unwatch.has(runId)) {
      const unwatch = this.#sources.watch.watch(runId, () => void this.#publishMissingEnd(runId));
      this.#unwatch.set(runId, unwatch);
    }
    return true;
  }

  unwatchAll(): void {
    for (const runId of [...this.#unwatch.keys()]) this.#unwatchRun(runId);
  }

  async #publishMissingEnd(runId: string): Promise<void> {
    const { isPublished } = await this.#sources.ends.findOrPublish({ threadId: this.#threadId, runId });
    if (isPublished) this.#unwatchRun(runId);
  }

  #end(runId: string): void {
    this.#unwatchRun(runId);
    this.#ended.add(runId);
    if (this.#ended.size > MAX_ENDED) this.#ended.delete(this.#ended.values().next().value!);
  }

  #unwatchRun(runId: string): void {
    this.#unwatch.get(runId)?.();
    this.#unwatch.delete(runId);
  }
}
