import { NO_SCOPE } from '@runyard/encryption';
import type { CancelOrder, ClaimedRun, DelayedRun, Fence } from '@runyard/run-engine';
import { type ExecutionDeps, RunExecution } from './run-execution.ts';

export interface ExecutionsOptions {
  deps: ExecutionDeps;
  /** Called when a run has ended and its slot is free. */
  onSlotFree(outcome: { hasNextRun: boolean }): void;
}

/** Tracks the runs in flight in this worker. */
export class Executions {
  readonly #options: ExecutionsOptions;
  readonly #running = new Map<string, RunExecution>();
  /** Runs that are claimed and not decrypted yet, by id. */
  readonly #delayed = new Map<string, DelayedRun>();
  #isDraining = false;
  #endGrace!: () => void;
  readonly #graceEnded = new Promise<void>((resolve) => {
    this.#endGrace = resolve;
  });
  #idle: (() => void)[] = [];

  constructor(options: ExecutionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#running.size + this.#delayed.size;
  }

  start(run: ClaimedRun): void {
    const execution = (run.inScope ?? NO_SCOPE)(() => new RunExecution(run, this.#options.deps));
    const earlier = this.#running.get(run.runId);
    // The run was claimed again before the earlier attempt noticed its loss: only the new one may write.
    earlier?.lose();
    this.#delayed.delete(run.runId);
    this.#running.set(run.runId, execution);
    void execution.done.then((outcome) => {
      if (this.#running.get(run.runId) === execution) this.#running.delete(run.runId);
      this.#freeSlot(outcome);
    });
    if (this.#isDraining) execution.drain();
  }

  /** Holds a run in its slot, and under the lease, until it is decrypted; then starts it, or frees the slot. */
  hold(delayed: DelayedRun): void {
    const { runId } = delayed;
    this.#running.get(runId)?.lose();
    this.#delayed.set(runId, delayed);
    void delayed.run.then((run) => {
      // The run may have another owner by now, or have been claimed again.
      if (this.#delayed.get(runId) !== delayed) return;
      this.#delayed.delete(runId);
      if (run) this.start(run);
      else this.#freeSlot({ hasNextRun: false });
    });
  }

  #freeSlot(outcome: { hasNextRun: boolean }): void {
    if (this.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    this.#options.onSlotFree(outcome);
  }

  /** Returns how many of these runs are in flight. */
  countOf(runIds: ReadonlySet<string>): number {
    let count = 0;
    for (const runId of runIds) if (this.#running.has(runId)) count += 1;
    return count;
  }

  fences(): Fence[] {
    const running = [...this.#running.values()].map(({ run }) => run);
    return [...running, ...this.#delayed.values()].map(({ fence }) => fence);
  }

  /** Orders come again with each renewal of the lease: one for a run that is not decrypted yet is obeyed then. */
  cancel(order: CancelOrder): void {
    this.#running.get(order.runId)?.cancel(order);
  }

  has(runId: string): boolean {
    return this.#running.has(runId) || this.#delayed.has(runId);
  }

  lose({ runId, epoch }: Fence): void {
    const delayed = this.#delayed.get(runId ?? '');
    if (delayed?.fence.epoch === epoch) this.#loseDelayed(delayed);
    for (const execution of this.#running.values()) {
      const { fence } = execution.run;
      if (fence.runId === runId && fence.epoch === epoch) execution.lose();
    }
  }

  loseAll(): void {
    for (const delayed of [...this.#delayed.values()]) this.#loseDelayed(delayed);
    for (const execution of this.#running.values()) execution.lose();
  }

  #loseDelayed({ runId }: DelayedRun): void {
    this.#delayed.delete(runId);
    this.#freeSlot({ hasNextRun: false });
  }

  /**
   * Lets the runs in flight end within the time given; then stops those left at their next step, and at last at once,
   * to be handed back. Resolves when none is left.
   */
  async finishOrHandBack({ graceMs, drainMs }: { graceMs: number; drainMs: number }): Promise<void> {
    if (await this.#isEmptyWithin(graceMs, this.#graceEnded)) return;
    this.#isDraining = true;
    for (const execution of this.#running.values()) execution.drain();
    if (await this.#isEmptyWithin(drainMs)) return;
    for (const execution of this.#running.values()) execution.handBack();
    await this.#empty();
  }

  /** Ends the grace of `finishOrHandBack`, also of one to come. */
  endGrace(): void {
    this.#endGrace();
  }

  async #isEmptyWithin(ms: number, ...cuts: Promise<void>[]): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const isEmpty = await Promise.race([
      this.#empty().then(() => true as const),
      late,
      ...cuts.map((cut) => cut.then(() => false as const)),
    ]);
    clearTimeout(timer);
    return isEmpty;
  }

  #empty(): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }
}
