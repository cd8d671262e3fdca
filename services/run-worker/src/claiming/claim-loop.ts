import type { ClaimedRun, RunEngine, RunsAmong } from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';
import type { WorkerMetrics } from '../worker-metrics.ts';

export interface ClaimLoopOptions {
  engine: Pick<RunEngine, 'claimRuns'>;
  workerId: string;
  /** Slots that may be filled now; 0 while the worker cannot execute (no host, no lease). */
  freeSlots(): number;
  /** When none is free: what runs in hand wait for, and how many of that may be taken all the same. */
  awaited?(): { among: RunsAmong; limit: number } | undefined;
  /** How many runs that are to be executed alone would get their place at once. */
  freeSoloPlaces(): number;
  start(run: ClaimedRun): void;
  /** Resolves at the next wake-up. */
  nextWakeup(): Promise<void>;
  /** Tells other workers that there is more than fits here. */
  passOn(): void;
  metrics: WorkerMetrics;
  logger: Logger;
  /** Without a wake-up the worker looks by itself this often: with Redis away runs start late, not never. */
  lookEveryMs: number;
}

/**
 * Claims runs while slots are free, and what runs in hand wait for while none is. A wake-up, a freed slot with a run waiting, or
 * the look-around timer starts a claim; as long as a claim comes back full it is followed by another.
 */
export class ClaimLoop {
  readonly #options: ClaimLoopOptions;
  #isStopped = false;
  #isWoken = false;
  #wake: (() => void) | undefined;
  #loop: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The wake-up queue is being listened to. */
  #isListening = false;
  /** The last claim took all it asked for: there may be more. */
  #mayHaveMore = true;
  /** Something that a run in hand waits for may be there to be taken. */
  #mayBeAwaited = false;

  constructor(options: ClaimLoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.poke(), this.#options.lookEveryMs);
    this.#loop = this.#run();
  }

  /** Looks for runs now, or as soon as a slot is free. */
  poke(): void {
    this.#mayHaveMore = true;
    this.runsAwaited();
  }

  /** A run in hand has begun to wait for another. */
  runsAwaited(): void {
    this.#mayBeAwaited = true;
    this.slotFreed();
  }

  /** A slot is free again; looks only if the last look left something. */
  slotFreed(): void {
    this.#isWoken = true;
    this.#wake?.();
  }

  /** No claim begins after this; resolves when the one under way has started its runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.slotFreed();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const limit = this.#options.freeSlots();
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
    // Before the claim: what is said while it is under way counts for the next one.
    this.#mayHaveMore = false;
    if ((await this.#take(limit)) < limit) return;
    this.#mayHaveMore = true;
    if (this.#options.freeSlots() === 0) this.#options.passOn();
  }

  /** How many runs it got. */
  async #take(limit: number, among?: RunsAmong): Promise<number> {
    const { engine, workerId, start, freeSoloPlaces, metrics, logger } = this.#options;
    try {
      const runs = await engine.claimRuns(workerId, limit, { among, suspectsMax: freeSoloPlaces() });
      for (const run of runs) start(run);
      return runs.length;
    } catch (error) {
      metrics.claimFailures.inc();
      logger.warn('runs could not be claimed', { error });
      // The look-around timer tries again.
      return 0;
    }
  }

  async #sleep(): Promise<void> {
    if (this.#options.freeSlots() > 0) this.#listen();
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    this.#isWoken = false;
  }

  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    void this.#options.nextWakeup().then(() => {
      this.#isListening = false;
      // It came after the slots had been filled otherwise: it is for somebody else.
      if (this.#isStopped || this.#options.freeSlots() === 0) this.#options.passOn();
      this.poke();
    });
  }
}
