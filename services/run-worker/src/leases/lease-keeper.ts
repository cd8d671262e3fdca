import { type CancelOrder, type Fence, FencedError, type LeaseRenewal, type RunEngine } from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';
import type { WorkerMetrics } from '../worker-metrics.ts';

/** What the lease is about: the runs in hand. */
export interface HeldRuns {
  fences(): Fence[];
  cancel(order: CancelOrder): void;
  /** What holds this fence; another attempt of the same run may be in hand by now. */
  lose(fence: Fence): void;
  loseAll(): void;
}

export interface LeaseKeeperOptions {
  engine: Pick<RunEngine, 'registerWorker' | 'renewLease' | 'releaseRun'>;
  worker: { workerId: string; revisionId: string; slots: number };
  runs: HeldRuns;
  leaseMs: number;
  metrics: Pick<WorkerMetrics, 'leaseLosses'>;
  logger: Logger;
  /** Monotonic milliseconds. */
  now?: () => number;
}

/**
 * Keeps the worker's lease, and with it every run in hand. It is renewed three times per lease, from this process and not from
 * the one that runs user code. Once a lease's time is over without a renewal the runs may be somebody else's already: all are
 * dropped at once, although the fence would refuse their writes anyway.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #now: () => number;
  #heldUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> | undefined;
  #isAskedAgain = false;
  #isClosed = false;
  /** Runs that are ours by the database and not in hand, as of the last renewal. */
  #unheld = new Set<string>();
  /** Runs dropped with the last lease: should they still be ours by the database, nobody here goes on with them. */
  readonly #dropped = new Set<string>();

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Registers the worker and renews from then on. */
  async start(): Promise<void> {
    await this.#register();
    this.#timer = setInterval(() => void this.#tick(), this.#options.leaseMs / 3);
  }

  /** False once the lease may have lapsed: nothing is to be claimed. */
  get isHeld(): boolean {
    return this.#now() < this.#heldUntil;
  }

  /** Renews out of turn, to learn of cancel orders. A call during a renewal is answered by one after it. */
  async renewNow(): Promise<void> {
    if (this.#renewing) {
      this.#isAskedAgain = true;
      return this.#renewing;
    }
    this.#renewing = this.#renewals().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#renewing;
  }

  async #tick(): Promise<void> {
    if (!this.isHeld) this.#lapse();
    await this.renewNow();
  }

  async #renewals(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      await this.#renew();
    } while (this.#isAskedAgain && !this.#isClosed);
  }

  async #renew(): Promise<void> {
    const { engine, worker, runs, leaseMs, logger } = this.#options;
    const askedAt = this.#now();
    try {
      const renewal = await engine.renewLease(worker.workerId, runs.fences());
      if (this.#isClosed) return;
      if (renewal.isRegistered) this.#heldUntil = askedAt + leaseMs;
      else {
        logger.warn('the lease had lapsed and was forgotten: registering anew');
        await this.#register();
      }
      await this.#obey(renewal);
    } catch (error) {
      logger.warn('the lease could not be renewed', { error });
      if (!this.isHeld) this.#lapse();
    }
  }

  async #register(): Promise<void> {
    const askedAt = this.#now();
    await this.#options.engine.registerWorker(this.#options.worker);
    this.#heldUntil = askedAt + this.#options.leaseMs;
  }

  #lapse(): void {
    if (this.#heldUntil > 0) this.#options.metrics.leaseLosses.inc();
    // Said once for each loss, however long it lasts.
    this.#heldUntil = 0;
    const fences = this.#options.runs.fences();
    if (fences.length === 0) return;
    this.#options.logger.error('the lease has lapsed: all runs are dropped, other workers take them over');
    for (const fence of fences) this.#dropped.add(nameOf(fence));
    this.#options.runs.loseAll();
  }

  async #obey({ orders, lost, unheld }: LeaseRenewal): Promise<void> {
    const { runs } = this.#options;
    for (const fence of lost) runs.lose(fence);
    for (const order of orders) runs.cancel(order);
    const before = this.#unheld;
    this.#unheld = new Set(unheld.map(nameOf));
    for (const fence of unheld) {
      const name = nameOf(fence);
      // Seen once it may just have been claimed; dropped, or seen twice, nobody here knows of it.
      if (!before.has(name) && !this.#dropped.has(name)) continue;
      if (runs.fences().some((held) => nameOf(held) === name)) continue;
      await this.#giveBack(fence);
    }
    this.#dropped.clear();
  }

  async #giveBack(fence: Fence): Promise<void> {
    const { engine, logger } = this.#options;
    logger.warn('a claimed run is not in hand: giving it back', { runId: fence.runId });
    await engine.releaseRun(fence).catch((error: unknown) => {
      // Another worker has swept it. Of anything else the next renewal tells again.
      if (!(error instanceof FencedError)) logger.warn('a run could not be given back', { runId: fence.runId, error });
    });
  }
}

function nameOf({ runId, epoch }: Fence): string {
  return `${runId} ${epoch}`;
}
