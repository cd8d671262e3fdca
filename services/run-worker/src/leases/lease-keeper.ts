import { type CancelOrder, type Fence, FencedError, type LeaseRenewal, type RunEngine } from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';
import type { WorkerMetrics } from '../worker-metrics.ts';

/** The runs in flight, which the lease covers. */
export interface HeldRuns {
  fences(): Fence[];
  cancel(order: CancelOrder): void;
  /** Drops the attempt with this fence; another attempt of the same run may be in flight by now. */
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
 * Renewals per lease (`RENEWALS`), and while a run in flight is ordered to end: the sweep ends the cancelled runs of a
 * worker that was silent for a fifth of its lease.
 */
const RENEWALS = 3;
const RENEWALS_UNDER_ORDERS = 10;

/**
 * Keeps the worker's lease, and with it every run in flight. It is renewed three times per lease, oftener under orders,
 * and from this process instead of the one that runs user code. Once a lease ended without a renewal the runs may have
 * another owner already: all are dropped at once, although the fence would refuse their writes anyway.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #now: () => number;
  #heldUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The next renewal while cancel orders wait to be obeyed. */
  #sooner: NodeJS.Timeout | undefined;
  #renewing: Promise<void> | undefined;
  #isAskedAgain = false;
  #isClosed = false;
  /** Runs that belong to this worker by the database and are not in flight, as of the last renewal. */
  #unheld = new Set<string>();
  /**
   * Runs dropped with the last lease: if they still belong to this worker by the database, nothing here continues them.
   */
  readonly #dropped = new Set<string>();

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Registers the worker and renews from then on. */
  async start(): Promise<void> {
    await this.#register();
    this.#timer = setInterval(() => void this.#tick(), this.#options.leaseMs / RENEWALS);
  }

  /** False once the lease may have lapsed: nothing may be claimed. */
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
    clearTimeout(this.#sooner);
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
      if (renewal.orders.length > 0) this.#renewSooner();
      await this.#obey(renewal);
    } catch (error) {
      logger.warn('the lease could not be renewed', { error });
      if (!this.isHeld) this.#lapse();
    }
  }

  #renewSooner(): void {
    this.#sooner ??= setTimeout(() => {
      this.#sooner = undefined;
      void this.#tick();
    }, this.#options.leaseMs / RENEWALS_UNDER_ORDERS);
  }

  async #register(): Promise<void> {
    const askedAt = this.#now();
    await this.#options.engine.registerWorker(this.#options.worker);
    this.#heldUntil = askedAt + this.#options.leaseMs;
  }

  #lapse(): void {
    if (this.#heldUntil > 0) this.#options.metrics.leaseLosses.inc();
    // Each loss is logged once, however long it lasts.
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
      // A run that is seen once may just have been claimed; one that was dropped, or seen twice, is unknown here.
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
      // FencedError: another worker has swept it. After any other error the next renewal lists the run again.
      if (!(error instanceof FencedError)) logger.warn('a run could not be given back', { runId: fence.runId, error });
    });
  }
}

function nameOf({ runId, epoch }: Fence): string {
  return `${runId} ${epoch}`;
}
