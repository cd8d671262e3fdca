import type { CancelAction, MultitaskStrategy, RunStatus, ThreadStatus } from '../src/types.ts';

export interface ModelRun {
  runId: string;
  status: RunStatus;
  /** Its order, once it has one. */
  cancel: CancelAction | null;
  /** Attempts in a row that were lost. */
  failures: number;
  /** An attempt of it has begun: there may be checkpoints of it, also while it waits for its next attempt. */
  hasStarted: boolean;
}

/** How an attempt ends by itself. */
export type Outcome = 'success' | 'question' | 'error';

/**
 * What a thread and its runs do, without a database: the rules of the multitask strategies in their plainest form, for the
 * engine to be held against.
 */
export class ModelThread {
  /** In the order they were accepted; those that are gone are not among them. */
  runs: ModelRun[] = [];
  status: ThreadStatus = 'idle';
  /** Its state asks for an answer. */
  #isAsking = false;
  readonly #maxFailures: number;

  constructor(maxFailures: number) {
    this.#maxFailures = maxFailures;
  }

  /** False: refused, and nothing happened. */
  create(runId: string, strategy: MultitaskStrategy): boolean {
    if (strategy === 'reject' && this.#inFlight.length > 0) return false;
    if (strategy === 'interrupt' || strategy === 'rollback') this.#order(this.#inFlight, strategy);
    this.runs.push({ runId, status: 'pending', cancel: null, failures: 0, hasStarted: false });
    this.status = 'busy';
    return true;
  }

  /** Takes the head of the line, if nothing runs. */
  claim(): ModelRun | undefined {
    if (this.running) return undefined;
    const head = this.runs.find((run) => run.status === 'pending');
    if (head) Object.assign(head, { status: 'running', hasStarted: true });
    return head;
  }

  /** Cancels runs in flight; how many it reached. */
  cancel(runIds: string[], action: CancelAction): number {
    const reached = this.#inFlight.filter((run) => runIds.includes(run.runId));
    this.#order(reached, action);
    return reached.length;
  }

  /** The running attempt reports how it came out; an order decides over that. */
  finish(outcome: Outcome): void {
    const run = this.running!;
    if (run.cancel === 'rollback') this.#remove(run);
    else {
      if (outcome !== 'error') this.#isAsking = outcome === 'question';
      this.#end(run, run.cancel === 'interrupt' ? 'interrupted' : outcome);
    }
  }

  /** The running attempt is lost with its worker. */
  lose(): void {
    const run = this.running!;
    run.failures += 1;
    if (run.cancel === 'rollback') this.#remove(run);
    else if (run.cancel === 'interrupt') this.#end(run, 'interrupted');
    else if (run.failures >= this.#maxFailures) this.#end(run, 'error');
    else run.status = 'pending';
  }

  delete(runId: string): boolean {
    const run = this.runs.find((each) => each.runId === runId);
    if (!run) return false;
    const wasInFlight = this.#inFlight.includes(run);
    this.runs = this.runs.filter((each) => each !== run);
    if (wasInFlight) this.#settle();
    return true;
  }

  get running(): ModelRun | undefined {
    return this.runs.find((run) => run.status === 'running');
  }

  get #inFlight(): ModelRun[] {
    return this.runs.filter(({ status }) => status === 'pending' || status === 'running');
  }

  #end(run: ModelRun, outcome: Outcome | 'interrupted'): void {
    run.status = outcome === 'question' ? 'success' : outcome;
    const ownStatus = { success: 'idle', question: 'interrupted', error: 'error', interrupted: 'interrupted' } as const;
    this.status = this.#inFlight.length > 0 ? 'busy' : ownStatus[outcome];
  }

  #remove(run: ModelRun): void {
    this.runs = this.runs.filter((each) => each !== run);
    this.#settle();
  }

  /** Without a run in flight a thread is what its state says. */
  #settle(): void {
    if (this.#inFlight.length === 0) this.status = this.#isAsking ? 'interrupted' : 'idle';
    else this.status = 'busy';
  }

  /**
   * One that runs obeys when it ends; a rollback stays one. One that waits is over at once: it leaves no trace if it never
   * started, and as its order says if an attempt of it was lost before.
   */
  #order(runs: ModelRun[], action: CancelAction): void {
    const waiting = runs.filter(({ status }) => status === 'pending');
    for (const run of runs) if (run.cancel !== 'rollback') run.cancel = action;
    const neverStarted = waiting.filter((run) => !run.hasStarted);
    for (const run of neverStarted) run.status = 'interrupted';
    if (neverStarted.length > 0) this.#settle();
    for (const run of waiting.filter(({ hasStarted }) => hasStarted)) {
      if (run.cancel === 'rollback') this.#remove(run);
      else this.#end(run, 'interrupted');
    }
  }
}
