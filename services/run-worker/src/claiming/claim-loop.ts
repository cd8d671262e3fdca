import type { ClaimedRun, DelayedRun, RunEngine, RunSelection } from '@runyard/run-engine';
import { type Logger, PeriodicTask, WakeableTimer } from '@runyard/service-kit';
import type { WorkerMetrics } from '../worker-metrics.ts';

/** Milliseconds between looks whether a worker's revision has the runs of the deployment again, or at last. */
const TURN_POLL_MS = 250;

export interface ClaimLoopOptions {
  engine: Pick<RunEngine, 'claimRuns' | 'mayClaim'>;
  workerId: string;
  /** Returns the slots that may be filled now; 0 while the worker cannot execute (no host, no lease). */
  freeSlots(): number;
  /** Returns, when no slot is free, which runs those in flight wait for, and how many of them may still be claimed. */
  awaited?(): { among: RunSelection; limit: number } | undefined;
  /** Returns how many quarantined runs would get an isolated host at once. */
  freeIsolatedHosts(): number;
  start(run: ClaimedRun): void;
  /** Holds a run that is claimed, and starts it once it is decrypted. */
  hold(run: DelayedRun): void;
  /** Resolves at the next wake-up. */
  nextWakeup(): Promise<void>;
  /** Wakes other workers: there is more than fits here, or what is there is not for this one. */
  passOn(): void;
  metrics: WorkerMetrics;
  logger: Logger;
  /** Milliseconds between claims without a wake-up: while Redis is away runs start late, not never. */
  pollEveryMs: number;
}

/**
 * Claims runs while slots are free, and while none is, the runs that those in flight wait for. A wake-up, a freed slot
 * with a run waiting, or the poll timer starts a claim; a claim that comes back full is followed by another. While the
 * runs of the deployment belong to another revision, wake-ups are left to the workers of that one.
 */
export class ClaimLoop {
  readonly #options: ClaimLoopOptions;
  #isStopped = false;
  readonly #waiting = new WakeableTimer();
  readonly #polls: PeriodicTask;
  #loop: Promise<void> | undefined;
  /** True when a listener waits on the wake-up queue. */
  #isListening = false;
  /** True when the last claim took all it asked for, so that there may be more. */
  #mayHaveMore = true;
  /** True when the next claim follows a wake-up: somebody has said that there is a run. */
  #wasWoken = false;
  /** True when another revision had the deployment's runs at the last look; the next one is soon. */
  #isOutdated = false;
  #nextLook: NodeJS.Timeout | undefined;
  /** True when a run that one in flight waits for may be ready to be claimed. */
  #mayBeAwaited = false;

  constructor(options: ClaimLoopOptions) {
    this.#options = options;
    const { pollEveryMs: everyMs, logger } = options;
    this.#polls = new PeriodicTask({ name: 'poll for runs', everyMs, run: () => this.look(), logger });
  }

  start(): void {
    this.#polls.start();
    this.#loop = this.#run();
  }

  /** Wakes the loop: it looks for runs now, or as soon as a slot is free. */
  wake(): void {
    this.#wasWoken = true;
    if (this.#isOutdated) this.#options.passOn();
    this.look();
  }

  /** Has the loop look for runs, of which nobody has said that there are any. */
  look(): void {
    this.#mayHaveMore = true;
    this.runsAwaited();
  }

  /** Wakes the loop if it would look for runs at once; returns whether it does. */
  wakeIfFree(): boolean {
    if (this.#isStopped || this.#freeSlots === 0) return false;
    this.wake();
    return true;
  }

  /** Called when a run in flight has begun to wait for another. */
  runsAwaited(): void {
    this.#mayBeAwaited = true;
    this.slotFreed();
  }

  /** Called when a slot is free again; looks only if the last look left something. */
  slotFreed(): void {
    this.#waiting.wake();
  }

  /** Begins no further claim; resolves when the one in flight has started its runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#nextLook);
    await this.#polls.stop();
    this.slotFreed();
    await this.#loop;
    // Nobody else was told of what this worker has not looked for any more.
    if (this.#wasWoken) this.#options.passOn();
  }

  get #freeSlots(): number {
    return this.#isOutdated ? 0 : this.#options.freeSlots();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const limit = this.#freeSlots;
      if (limit > 0 && this.#mayHaveMore) await this.#claim(limit);
      else if (limit === 0 && this.#mayBeAwaited) await this.#claimAwaited();
      else await this.#sleep();
    }
  }

  async #claimAwaited(): Promise<void> {
    this.#mayBeAwaited = false;
    const awaited = this.#options.awaited?.();
    if (!awaited || awaited.limit === 0) return;
    await this.#take(awaited.limit, awaited.among);
  }

  async #claim(limit: number): Promise<void> {
    // The flag is cleared before the claim: a wake-up while it is in flight counts for the next one.
    this.#mayHaveMore = false;
    const wasWoken = this.#wasWoken;
    this.#wasWoken = false;
    const taken = await this.#take(limit);
    if (taken === 0 && wasWoken) await this.#leaveToOthers();
    if (taken < limit) return;
    this.#mayHaveMore = true;
    if (this.#options.freeSlots() === 0) this.#options.passOn();
  }

  /** Passes a wake-up on where another revision has the runs, and takes no more until it is this one's turn. */
  async #leaveToOthers(): Promise<void> {
    if (await this.#isTurnOfOthers()) this.#options.passOn();
  }

  async #isTurnOfOthers(): Promise<boolean> {
    const { engine, workerId, logger } = this.#options;
    try {
      this.#isOutdated = !(await engine.mayClaim(workerId));
    } catch (error) {
      logger.debug('not known whose runs are waiting', { error });
      this.#isOutdated = false;
    }
    if (this.#isOutdated) this.#nextLook = setTimeout(() => void this.#lookWhenItsTurn(), TURN_POLL_MS).unref();
    return this.#isOutdated;
  }

  async #lookWhenItsTurn(): Promise<void> {
    if (!this.#isStopped && !(await this.#isTurnOfOthers())) this.look();
  }

  /** Returns how many runs it claimed. */
  async #take(limit: number, among?: RunSelection): Promise<number> {
    const { engine, workerId, start, hold, freeIsolatedHosts, metrics, logger } = this.#options;
    let held = 0;
    const onDelayed = (run: DelayedRun) => {
      held += 1;
      hold(run);
    };
    try {
      const options = { among, quarantinedMax: freeIsolatedHosts(), onDelayed };
      const runs = await engine.claimRuns(workerId, limit, options);
      for (const run of runs) start(run);
      return runs.length + held;
    } catch (error) {
      metrics.claimFailures.inc();
      logger.warn('claim failed, will retry', { error });
      // The poll timer tries again.
      return 0;
    }
  }

  async #sleep(): Promise<void> {
    if (this.#freeSlots > 0) this.#listen();
    await this.#waiting.wait();
  }

  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    void this.#options.nextWakeup().then(() => {
      this.#isListening = false;
      // The wake-up came after the slots had been filled otherwise: it is for another worker.
      if (this.#isStopped || this.#options.freeSlots() === 0) this.#options.passOn();
      this.wake();
    });
  }
}
