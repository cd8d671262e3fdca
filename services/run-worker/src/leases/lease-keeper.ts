import { type CancelOrder, type Fence, FencedError, type LeaseRenewal, type RunEngine } from '@runyard/run-engine';
import { type Logger, PeriodicTask } from '@runyard/service-kit';
import type { WorkerMetrics } from '../worker-metrics.ts';

/** The runs in flight, which the lease covers. */
interface HeldRuns {
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
 * worker that was unresponsive for a fifth of its lease.
 */
const RENEWALS = 3;
const RENEWALS_WHILE_CANCELLING = 10;

/**
 * Keeps the worker's lease, and with it every run in flight. It is renewed three times per lease, oftener under orders,
 * and from this process instead of the one that runs user code. Once a lease ended without a renewal the runs may have
 * another owner already: all are dropped at once, although the fence would refuse their writes anyway.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #now: () => number;
  #heldUntil = 0;
  readonly #renewals: PeriodicTask;
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
  /** Runs that are being given back. Each may wait for its thread, and no renewal waits for them. */
  readonly #releasing = new Map<string, Promise<void>>();

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    const everyMs = options.leaseMs / RENEWALS;
    // A tick does not wait for the renewal before: a lease that ends meanwhile has to be noticed.
    const run = () => void this.#tick();
    this.#renewals = new PeriodicTask({ name: 'lease renewal', everyMs, run, logger: options.logger });
    this.#now = options.now ?? (() => performance.now());
  }

  /** Registers the worker and renews from then on. */
  async start(): Promise<void> {
    await this.#register();
    this.#renewals.start();
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
    this.#renewing = this.#renewUntilAnswered().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#sooner);
    await this.#renewals.stop();
    await this.#renewing;
    await Promise.all(this.#releasing.values());
  }

  async #tick(): Promise<void> {
    if (!this.isHeld) this.#lapse();
    await this.renewNow();
  }

  async #renewUntilAnswered(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      await this.#renew();
    } while (this.#isAskedAgain && !this.#isClosed);
  }

  async #renew(): Promise<void> {
    const { engine, worker, runs, leaseMs, logger } = this.#options;
    const requestedAt = this.#now();
    try {
      const renewal = await engine.renewLease(worker.workerId, runs.fences());
      if (this.#isClosed) return;
      if (renewal.isRegistered) this.#heldUntil = requestedAt + leaseMs;
      else {
        logger.warn('lease expired and removed, registering again');
        await this.#register();
      }
      if (renewal.orders.length > 0) this.#renewSooner();
      this.#obey(renewal);
    } catch (error) {
      logger.warn('lease renewal failed', { error });
      if (!this.isHeld) this.#lapse();
    }
  }

  #renewSooner(): void {
    this.#sooner ??= setTimeout(() => {
      this.#sooner = undefined;
      void this.#tick();
    }, this.#options.leaseMs / RENEWALS_WHILE_CANCELLING);
  }

  async #register(): Promise<void> {
    const requestedAt = this.#now();
    await this.#options.engine.registerWorker(this.#options.worker);
    this.#heldUntil = requestedAt + this.#options.leaseMs;
  }

  #lapse(): void {
    if (this.#heldUntil > 0) this.#options.metrics.leaseLosses.inc();
    // Each loss is logged once, however long it lasts.
    this.#heldUntil = 0;
    const fences = this.#options.runs.fences();
    if (fences.length === 0) return;
    this.#options.logger.error('lease expired, dropping all runs', { runs: fences.length });
    for (const fence of fences) this.#dropped.add(keyOf(fence));
    this.#options.runs.loseAll();
  }

  #obey({ orders, lost, unheld }: LeaseRenewal): void {
    const { runs } = this.#options;
    for (const fence of lost) runs.lose(fence);
    for (const order of orders) runs.cancel(order);
    const before = this.#unheld;
    this.#unheld = new Set(unheld.map(keyOf));
    for (const fence of unheld) {
      const name = keyOf(fence);
      // A run that is seen once may just have been claimed; one that was dropped, or seen twice, is unknown here.
      if (!before.has(name) && !this.#dropped.has(name)) continue;
      if (this.#releasing.has(name) || runs.fences().some((held) => keyOf(held) === name)) continue;
      this.#releasing.set(
        name,
        this.#release(fence).finally(() => this.#releasing.delete(name)),
      );
    }
    this.#dropped.clear();
  }

  async #release(fence: Fence): Promise<void> {
    const { engine, logger } = this.#options;
    logger.warn('claimed run is not in flight here, releasing it', { runId: fence.runId });
    await engine.releaseRun(fence, { cause: NOT_IN_FLIGHT }).catch((error: unknown) => {
      // FencedError: another worker has swept it. After any other error the next renewal lists the run again.
      if (!(error instanceof FencedError)) logger.warn('run release failed', { runId: fence.runId, error });
    });
  }
}

/** Ends an attempt whose claim did not reach this worker, or which it dropped because it could not renew its lease. */
const NOT_IN_FLIGHT = { error: 'WorkerLost', message: 'The worker had dropped the run, or never received it.' };

function keyOf({ runId, epoch }: Fence): string {
  return `${runId} ${epoch}`;
}
