import { type Logger, PeriodicTask } from '@runyard/service-kit';
import type { Ownership } from './ownership.ts';

/** The result of `step`: nothing to do, the deployment is deleted, or `step` has to be called again later. */
export type StepResult = 'settled' | 'gone' | 'retry';

export interface StopOptions {
  /** Keeps the route, because another process has taken over and announces its own. */
  keepRoute?: boolean;
  /** Leaves revisions that outlive this process running, and keeps their routes. */
  release?: boolean;
}

/** The work on one deployment, one step at a time. */
export interface DeploymentWork {
  step(): Promise<StepResult>;
  /** Notifies that something may have changed: a step that became pointless is aborted. */
  wake(): Promise<void>;
  /** Ends everything, by force after `graceMs`. */
  stop(graceMs: number, options?: StopOptions): Promise<void>;
}

export interface ReconcilerOptions {
  /** Lists the deployments to work on. */
  store: { allIds(): Promise<string[]> };
  workOn(deploymentId: string): DeploymentWork;
  ownership: Ownership;
  /** Milliseconds between sweeps. They are a safety net: changes wake whoever works on the deployment. */
  sweepMs: number;
  logger: Logger;
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

/** One deployment that this process works on. */
interface OwnedDeployment {
  work: DeploymentWork;
  /** The working loop while it runs. */
  working: Promise<void> | undefined;
  isAskedAgain: boolean;
  retries: number;
  retryTimer: NodeJS.Timeout | undefined;
  /** True when another process has taken over the lease. Then all processes of the deployment here are being ended. */
  isLost: boolean;
}

/**
 * Works on every deployment of which this process has the lease. At most one process at a time works on a deployment,
 * because the deployment's processes are its children. Changes wake it at once; the sweep finds changes whose signal was
 * lost, and deployments whose lease owner died.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #logger: Logger;
  readonly #owned = new Map<string, OwnedDeployment>();
  readonly #sweeps: PeriodicTask;
  readonly #renewals: PeriodicTask;
  /** The next sweep while another process has the lease of a deployment. */
  #soonTimer: NodeJS.Timeout | undefined;
  #taking: Promise<void> = Promise.resolve();
  /** Leases that are being released, by deployment. */
  readonly #releasing = new Map<string, Promise<void>>();
  #isStopping = false;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#logger = options.logger;
    const { sweepMs, ownership, logger } = options;
    const sweep = () => this.#sweep();
    this.#sweeps = new PeriodicTask({ name: 'deployment sweep', everyMs: sweepMs, atStart: true, run: sweep, logger });
    // A renewal does not wait for the one before, whose connection may be dead, nor for the end of lost deployments.
    const renew = () => void this.#renew();
    this.#renewals = new PeriodicTask({ name: 'lease renewal', everyMs: ownership.leaseMs / 4, run: renew, logger });
  }

  start(): void {
    this.#sweeps.start();
    this.#renewals.start();
  }

  wake(deploymentId: string): void {
    if (this.#isStopping) return;
    const owned = this.#owned.get(deploymentId);
    if (owned) void this.#wakeWork(deploymentId, owned);
    void this.#takeUp(deploymentId);
  }

  wakeAll(): void {
    this.#sweeps.wake();
  }

  /** Ends, at once, the deployments that another process has now. */
  checkOwnership(): Promise<void> {
    return this.#renew();
  }

  /**
   * Ends the processes of every deployment, by force after `graceMs`, and releases the leases. Revisions that outlive
   * this process keep running, unless `release` is false.
   */
  async stop(graceMs: number, { release = true }: { release?: boolean } = {}): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#soonTimer);
    await this.#sweeps.stop();
    await Promise.all([...this.#owned.keys()].map((id) => this.#stopAndRelease(id, graceMs, { release })));
    // Leases are renewed until here: while processes still run, no other owner may start theirs.
    await this.#renewals.stop();
  }

  /** Sweeps soon, because another process has a deployment's lease: if it died, the lease expires soon. */
  #sweepSoon(): void {
    if (this.#isStopping) return;
    clearTimeout(this.#soonTimer);
    this.#soonTimer = setTimeout(() => this.#sweeps.wake(), this.#options.ownership.leaseMs / 4);
  }

  async #sweep(): Promise<void> {
    const ids = await this.#options.store.allIds();
    await this.#take(ids.filter((id) => !this.#owned.has(id)));
    for (const [id, owned] of [...this.#owned]) {
      await this.#wakeWork(id, owned);
      this.#workOn(id, owned);
    }
    if (ids.some((id) => !this.#owned.has(id))) this.#sweepSoon();
  }

  /** Aborts a pointless step at once, since builds and starts may take minutes. */
  async #wakeWork(id: string, owned: OwnedDeployment): Promise<void> {
    if (!owned.working) return;
    await owned.work.wake().catch((error: unknown) => {
      this.#logger.warn('deployment change check failed', { deploymentId: id, error });
    });
  }

  async #takeUp(id: string): Promise<void> {
    if (!this.#owned.has(id)) await this.#take([id]);
    const owned = this.#owned.get(id);
    if (owned) this.#workOn(id, owned);
  }

  /**
   * Takes the deployments that no other process works on. Calls are serialized, because a change and the sweep may both
   * get here.
   */
  #take(ids: string[]): Promise<void> {
    const taken = this.#taking.then(() => this.#takeFree(ids.filter((id) => !this.#owned.has(id))));
    this.#taking = taken.catch(() => undefined);
    return taken;
  }

  async #takeFree(ids: string[]): Promise<void> {
    // A lease that is taken before its release has ended would be released again.
    await Promise.all(ids.map((id) => this.#releasing.get(id)));
    if (ids.length === 0 || this.#isStopping) return;
    for (const id of await this.#acquire(ids)) {
      if (this.#isStopping) await this.#release(id);
      else this.#owned.set(id, makeOwned(this.#options.workOn(id)));
    }
  }

  #workOn(id: string, owned: OwnedDeployment): void {
    // A lost deployment, including its route, may only be changed by its new owner.
    if (this.#isStopping || owned.isLost) return;
    owned.isAskedAgain = true;
    owned.working ??= this.#work(id, owned).finally(() => {
      owned.working = undefined;
    });
  }

  async #work(id: string, owned: OwnedDeployment): Promise<void> {
    while (owned.isAskedAgain && !this.#isStopping && !owned.isLost && this.#owned.get(id) === owned) {
      owned.isAskedAgain = false;
      clearTimeout(owned.retryTimer);
      const result = await owned.work.step().catch((error: unknown) => {
        this.#logger.error('deployment step failed, will retry', { deploymentId: id, error });
        return 'retry' as const;
      });
      if (result === 'gone') {
        // A request that came meanwhile is handled before the deployment is forgotten.
        if (owned.isAskedAgain) continue;
        await this.#forget(id);
        return;
      }
      if (result === 'retry') this.#retryLater(id, owned);
      else owned.retries = 0;
    }
  }

  #retryLater(id: string, owned: OwnedDeployment): void {
    const inMs = Math.min(FIRST_RETRY_MS * 2 ** owned.retries, LONGEST_RETRY_MS);
    owned.retries += 1;
    owned.retryTimer = setTimeout(() => this.#workOn(id, owned), inMs);
  }

  async #forget(id: string): Promise<void> {
    this.#owned.delete(id);
    await this.#release(id);
  }

  async #stopAndRelease(
    id: string,
    graceMs: number,
    options: { keepRoute?: boolean; release: boolean },
  ): Promise<void> {
    const owned = this.#owned.get(id);
    if (!owned) return;
    clearTimeout(owned.retryTimer);
    await owned.work.stop(graceMs, options).catch((error: unknown) => {
      this.#logger.error('deployment stop failed', { deploymentId: id, error });
    });
    await owned.working;
    this.#owned.delete(id);
    await this.#release(id);
  }

  /** Loses all deployments in parallel: ending the processes of one may take longer than the other leases last. */
  async #renew(): Promise<void> {
    const held = [...this.#owned].filter(([, owned]) => !owned.isLost);
    if (held.length === 0) return;
    const renewed = await this.#acquire(held.map(([id]) => id));
    await Promise.all(held.filter(([id]) => !renewed.has(id)).map(([id, owned]) => this.#lose(id, owned)));
  }

  /** Ends everything of a deployment whose lease another process took while this one was suspended. */
  async #lose(id: string, owned: OwnedDeployment): Promise<void> {
    // The lease may have been released meanwhile, or its loss found by another renewal.
    if (owned.isLost || this.#owned.get(id) !== owned) return;
    owned.isLost = true;
    this.#logger.error('deployment lease lost, ending its processes', { deploymentId: id });
    await this.#stopAndRelease(id, 0, { keepRoute: true, release: true });
  }

  /** Keeps the current leases when the database cannot be reached: then no other process can take one either. */
  async #acquire(ids: string[]): Promise<ReadonlySet<string>> {
    try {
      return await this.#options.ownership.acquire(ids);
    } catch (error) {
      this.#logger.warn('deployment lease renewal failed', { deployments: ids.length, error });
      return new Set(ids.filter((id) => this.#owned.has(id)));
    }
  }

  async #release(id: string): Promise<void> {
    const released = this.#options.ownership.release(id).catch((error: unknown) => {
      this.#logger.warn('deployment lease release failed', { deploymentId: id, error });
    });
    this.#releasing.set(id, released);
    await released;
    this.#releasing.delete(id);
  }
}

function makeOwned(work: DeploymentWork): OwnedDeployment {
  return { work, working: undefined, isAskedAgain: false, retries: 0, retryTimer: undefined, isLost: false };
}
