import type { ThreadEvent } from './thread-event.ts';

/** The times of a run, as far as they are known while events of its thread are read. */
export interface RunTimes {
  runId: string;
  createdAt: number;
  startedAt: number | undefined;
  endedAt: number | undefined;
}

/** Clocks of the parts of a platform differ by so much at most. */
const CLOCKS_MS = 100;

/**
 * Chooses the events of one run from those of its thread, whose runs come one after the other. Events do not say of which
 * run they are, but the tasks in them do; until the first of these the times decide.
 */
export class RunEvents {
  #times: RunTimes;
  #isOurs: boolean | undefined;
  #isSure = false;
  #hasEnded = false;
  #newest = -1;
  readonly #atNewest = new Set<string>();

  constructor(times: RunTimes) {
    this.#times = times;
  }

  /** True once the end of the run was among the events. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  update(times: RunTimes): void {
    this.#times = times;
  }

  /** Returns whether an event is of the run, and has not come before. */
  accepts(event: ThreadEvent): boolean {
    if (!this.#isNew(event)) return false;
    const { method, params } = event;
    const isRoot = method === 'lifecycle' && params.namespace.length === 0;
    if (isRoot && params.data.event === 'running') {
      this.#isOurs = undefined;
      this.#isSure = false;
    }
    if (!this.#isSure) this.#decide(event);
    if (this.#hasEnded || !this.#isOurs) return false;
    if (isRoot && params.data.event !== 'running') this.#hasEnded = true;
    return true;
  }

  #decide({ params }: ThreadEvent): void {
    const runId = (params.data.metadata as { run_id?: unknown } | undefined)?.run_id;
    if (typeof runId === 'string') {
      this.#isOurs = runId === this.#times.runId;
      this.#isSure = true;
      return;
    }
    if (this.#isOurs !== undefined) return;
    const { createdAt, startedAt, endedAt } = this.#times;
    const at = params.timestamp;
    this.#isOurs = at >= (startedAt ?? createdAt) - CLOCKS_MS && (endedAt === undefined || at <= endedAt + CLOCKS_MS);
  }

  /** Events of a `seq` come together, and all of the stream in their order. */
  #isNew({ seq, event_id: id }: ThreadEvent): boolean {
    if (seq < this.#newest || this.#atNewest.has(id)) return false;
    if (seq > this.#newest) this.#atNewest.clear();
    this.#newest = seq;
    this.#atNewest.add(id);
    return true;
  }
}
