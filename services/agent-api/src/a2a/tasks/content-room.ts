import type { RunEngine } from '@runyard/run-engine';
import type { ByteBudget } from '@runyard/service-kit';
import type { TaskRecord } from './task-record.ts';

/** An answer has what a task said twice: as artifact and in its history. */
const COPIES = 2;
/** The number of open answers bounds smaller ones. */
const SMALL_BYTES = 64 * 1024;

export interface ContentRoomOptions {
  engine: Pick<RunEngine, 'readOutcome'>;
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
   * Takes room for the content of a task whose run has ended, until the answer is closed. Returns false when that came
   * first. One that is larger than all the room is held alone.
   */
  async take({ contextId: threadId, runId }: TaskRecord, closed: AbortSignal): Promise<boolean> {
    const { engine, budget } = this.#options;
    const outcome = await engine.readOutcome({ threadId, runId }, 0);
    const size = (outcome?.valuesBytes ?? 0) * COPIES;
    if (size <= SMALL_BYTES) return !closed.aborted;
    const bytes = Math.min(size, budget.maxBytes);
    if (!(await budget.takeInTurn(bytes, closed))) return false;
    const giveBack = () => budget.giveBack(bytes);
    if (closed.aborted) giveBack();
    else closed.addEventListener('abort', giveBack, { once: true });
    return !closed.aborted;
  }
}
