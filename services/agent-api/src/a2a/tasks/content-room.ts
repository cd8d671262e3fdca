import type { ByteBudget } from '@runyard/service-kit';
import { holdContent } from '../../runs/run-results.ts';
import type { ThreadStore } from '../../threads/thread-store.ts';
import type { TaskRecord } from './task-record.ts';

/** An answer has what a task said twice: as artifact and in its history. */
const COPIES = 2;
/** Bytes at rest of what one answer has of several tasks; one task alone may have more. */
const PAGE_BYTES_MAX = 32 * 1024 * 1024;

export interface ContentRoomOptions {
  threads: Pick<ThreadStore, 'contentBytesOf'>;
  /** Bytes of all large results that answers of this process hold. */
  budget: ByteBudget;
}

/** Makes answers wait for each other while the content of their tasks would take too much memory together. */
export class ContentRoom {
  readonly #options: ContentRoomOptions;

  constructor(options: ContentRoomOptions) {
    this.#options = options;
  }

  /**
   * Takes room for the content of the first of these tasks, of as many as one answer may have, until the signal. Returns
   * their number, at least one where there is one; undefined when the signal came first. One that is larger than all the
   * room is held alone. An answer takes room once: two that wait for more while they hold some would wait for ever.
   */
  async take(tasks: readonly TaskRecord[], until: AbortSignal): Promise<number | undefined> {
    const { threads, budget } = this.#options;
    const sizes = tasks.length > 0 ? await threads.contentBytesOf(tasks.map(({ runId }) => runId)) : new Map();
    const max = Math.min(PAGE_BYTES_MAX, budget.maxBytes / COPIES);
    let bytes = 0;
    let count = 0;
    for (const { runId } of tasks) {
      const more = bytes + (sizes.get(runId) ?? 0);
      if (count > 0 && more > max) break;
      bytes = more;
      count += 1;
    }
    return (await holdContent(budget, bytes * COPIES, until)) ? count : undefined;
  }
}
