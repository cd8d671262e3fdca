import { NO_SCOPE } from '@runyard/encryption';
import type { CancelOrder, ClaimedRun, Fence } from '@runyard/run-engine';
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
  #idle: (() => void)[] = [];

  constructor(options: ExecutionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#running.size;
  }

  start(run: ClaimedRun): void {
    const execution = (run.inScope ?? NO_SCOPE)(() => new RunExecution(run, this.#options.deps));
    const earlier = this.#running.get(run.runId);
    // The run was claimed again before the earlier attempt noticed its loss: only the new one may write.
    earlier?.lose();
    this.#running.set(run.runId, execution);
    void execution.done.then((outcome) => {
      if (this.#running.get(run.runId) === execution) this.#running.delete(run.runId);
      if (this.#running.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
      this.#options.onSlotFree(outcome);
    });
  }

  /** Returns how many of these runs are in flight. */
  countOf(runIds: ReadonlySet<string>): number {
    let count = 0;
    for (const runId of runIds) if (this.#running.has(runId)) count += 1;
    return count;
  }

  fences(): Fence[] {
    return [...this.#running.values()].map(({ run }) => run.fence);
  }

  cancel(order: CancelOrder): void {
    this.#running.get(order.runId)?.cancel(order);
  }

  has(runId: string): boolean {
    return this.#running.has(runId);
  }

  lose({ runId, epoch }: Fence): void {
    for (const execution of this.#running.values()) {
      const { fence } = execution.run;
      if (fence.runId === runId && fence.epoch === epoch) execution.lose();
    }
  }

  loseAll(): void {
    for (const execution of this.#running.values()) execution.lose();
  }

  /**
   * Lets the runs in flight end within the time given; then stops those left at their next step, and at last at once,
   * to be handed back. Resolves when none is left.
   */
  async finishOrHandBack({ graceMs, drainMs }: { graceMs: number; drainMs: number }): Promise<void> {
    if (await this.#isEmptyWithin(graceMs)) return;
    for (const execution of this.#running.values()) execution.drain();
    if (await this.#isEmptyWithin(drainMs)) return;
    for (const execution of this.#running.values()) execution.handBack();
    await this.#empty();
  }

  async #isEmptyWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const isEmpty = await Promise.race([this.#empty().then(() => true as const), late]);
    clearTimeout(timer);
    return isEmpty;
  }

  #empty(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }
}
