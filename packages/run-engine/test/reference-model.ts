import type { CancelAction, MultitaskStrategy, RunStatus, ThreadStatus } from '../src/types.ts';

export interface ModelRun {
  runId: string;
  status: RunStatus;
  /** The run's cancel order, or null. */
  cancel: CancelAction | null;
  /** Number of attempts in a row that were lost, without those before one that wrote a checkpoint. */
  failures: number;
  /** True when its last attempt wrote a checkpoint. */
  hasWritten: boolean;
  /** True when an attempt has begun: there may be checkpoints of the run, even while it waits for its next attempt. */
  hasStarted: boolean;
}

/** The way an attempt ends by itself. */
export type Outcome = 'success' | 'question' | 'error';

/**
 * The behavior of a thread and its runs without a database: the rules of the multitask strategies in their plainest
 * form, for comparison with the engine.
 */
export class ModelThread {
  /** Runs in the order of acceptance, without deleted ones. */
  runs: ModelRun[] = [];
  status: ThreadStatus = 'idle';
  /** The checkpoints of the thread, each by the run that wrote it. */
  checkpoints: string[] = [];
  /** True when its state has an interrupt. */
  #isAsking = false;
  readonly #maxFailures: number;

  constructor(maxFailures: number) {
    this.#maxFailures = maxFailures;
  }

  /** Returns false when the run is refused; nothing has changed then. */
  create(runId: string, strategy: MultitaskStrategy): boolean {
    if (strategy === 'reject' && this.#inFlight.length > 0) return false;
    if (strategy === 'interrupt' || strategy === 'rollback') this.#order(this.#inFlight, strategy);
    this.runs.push({ runId, status: 'pending', cancel: null, failures: 0, hasStarted: false, hasWritten: false });
    this.status = 'busy';
    return true;
  }

  /** Claims the first run in line, if none runs. */
  claim(): ModelRun | undefined {
    if (this.running) return undefined;
    const head = this.runs.find((run) => run.status === 'pending');
    if (head) Object.assign(head, { status: 'running', hasStarted: true, hasWritten: false });
    return head;
  }

  /** Writes a checkpoint of the running run. */
  write(): void {
    const run = this.running!;
    this.checkpoints.push(run.runId);
    run.hasWritten = true;
  }

  /** Cancels runs in flight; returns how many. */
  cancel(runIds: string[], action: CancelAction): number {
    const reached = this.#inFlight.filter((run) => runIds.includes(run.runId));
    this.#order(reached, action);
    return reached.length;
  }

  /** Ends the running attempt with its own outcome; a cancel order wins over it. */
  finish(outcome: Outcome): void {
    const run = this.running!;
    if (run.cancel === 'rollback') this.#remove(run);
    else {
      if (outcome !== 'error') this.#isAsking = outcome === 'question';
      this.#end(run, run.cancel === 'interrupt' ? 'interrupted' : outcome);
    }
  }

  /** Ends the running attempt because its worker is lost. */
  lose(): void {
    const run = this.running!;
    run.failures = run.hasWritten ? 1 : run.failures + 1;
    if (run.cancel === 'rollback') this.#remove(run);
    else if (run.cancel === 'interrupt') this.#end(run, 'interrupted');
    else if (run.failures >= this.#maxFailures) this.#end(run, 'error');
    else run.status = 'pending';
  }

  delete(runId: string): boolean {
    const run = this.runs.find((each) => each.runId === runId);
    if (!run) return false;
    const wasInFlight = this.#inFlight.includes(run);
    if (wasInFlight && run.cancel === 'rollback') this.#dropCheckpoints(run);
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

  /** Rolls a run back. */
  #remove(run: ModelRun): void {
    this.#dropCheckpoints(run);
    this.runs = this.runs.filter((each) => each !== run);
    this.#settle();
  }

  #dropCheckpoints(run: ModelRun): void {
    this.checkpoints = this.checkpoints.filter((runId) => runId !== run.runId);
  }

  /** Sets the status: without a run in flight, a thread has the status of its state. */
  #settle(): void {
    if (this.#inFlight.length === 0) this.status = this.#isAsking ? 'interrupted' : 'idle';
    else this.status = 'busy';
  }

  /**
   * Gives orders. A running run obeys when it ends; a rollback stays one. A waiting run ends at once: it leaves no
   * trace if it never started, and ends as its order says if an attempt of it was lost before.
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
