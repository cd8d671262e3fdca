import type { Logger } from '@runyard/service-kit';
import type { Rollouts } from '../deployments/desired-state.ts';
import { DeploymentRollout, type RolloutParts } from './deployment-rollout.ts';
import type { Ownership } from './ownership.ts';

export interface ReconcilerOptions {
  parts: RolloutParts;
  ownership: Ownership;
  /** A safety net: changes are acted on at once where they are made. */
  sweepMs: number;
  logger: Logger;
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

/** One deployment this process works on. */
interface Owned {
  rollout: DeploymentRollout;
  /** The loop that works, while it does. */
  working: Promise<void> | undefined;
  isAskedAgain: boolean;
  retries: number;
  retryTimer: NodeJS.Timeout | undefined;
  /** Another process has it: what runs here is being ended. */
  isLost: boolean;
}

/**
 * Works on every deployment this process holds the lease of: at most one process at a time works on a deployment, since its
 * processes are that one's children. Changes made here are acted on at once; the sweep finds those made elsewhere, and the
 * deployments whose holder died.
 */
export class Reconciler implements Rollouts {
  readonly #options: ReconcilerOptions;
  readonly #logger: Logger;
  readonly #owned = new Map<string, Owned>();
  readonly #removalWaiters = new Map<string, (() => void)[]>();
  #sweepTimer: NodeJS.Timeout | undefined;
  #soonTimer: NodeJS.Timeout | undefined;
  #renewTimer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#logger = options.logger;
  }

  start(): void {
    const { sweepMs, ownership } = this.#options;
    this.#queueSweep();
    this.#sweepTimer = setInterval(() => this.#queueSweep(), sweepMs);
    this.#renewTimer = setInterval(() => void this.#renew(), ownership.leaseMs / 4);
  }

  changed(deploymentId: string): void {
    if (this.#isStopping) return;
    const owned = this.#owned.get(deploymentId);
    if (owned) void this.#notice(deploymentId, owned);
    void this.#workOn(deploymentId);
  }

  removed(deploymentId: string, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      const waiters = this.#removalWaiters.get(deploymentId) ?? [];
      waiters.push(() => {
        clearTimeout(timer);
        resolve();
      });
      this.#removalWaiters.set(deploymentId, waiters);
    });
  }

  /**
   * Ends the processes of every deployment, by force after `graceMs`, and gives the leases back. What goes on without this
   * process does, unless `release` is false.
   */
  async stop(graceMs: number, { release = true }: { release?: boolean } = {}): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#sweepTimer);
    clearTimeout(this.#soonTimer);
    await this.#sweeping;
    await Promise.all([...this.#owned.keys()].map((id) => this.#letGo(id, graceMs, { release })));
    // Until here: while processes still run, nobody else may start theirs.
    clearInterval(this.#renewTimer);
  }

  #queueSweep(): void {
    this.#sweeping = this.#sweeping.then(() => this.#sweep());
  }

  /** Another process holds some deployment; if it died, its lease lapses soon. */
  #sweepSoon(): void {
    if (this.#isStopping) return;
    clearTimeout(this.#soonTimer);
    this.#soonTimer = setTimeout(() => this.#queueSweep(), this.#options.ownership.leaseMs / 4);
  }

  async #sweep(): Promise<void> {
    try {
      const ids = await this.#options.parts.store.allIds();
      for (const id of new Set([...ids, ...this.#owned.keys()])) {
        const owned = this.#owned.get(id);
        if (owned) await this.#notice(id, owned);
        await this.#workOn(id);
      }
      if (ids.some((id) => !this.#owned.has(id))) this.#sweepSoon();
    } catch (error) {
      this.#logger.warn('deployments could not be looked through, trying again', { error });
    }
  }

  /** Builds and starts may take minutes; what makes them pointless does not wait for their end. */
  async #notice(id: string, owned: Owned): Promise<void> {
    await owned.rollout.notice().catch((error: unknown) => {
      this.#logger.warn('a change of a deployment is noticed later', { deploymentId: id, error });
    });
  }

  async #workOn(id: string): Promise<void> {
    if (this.#isStopping) return;
    let owned = this.#owned.get(id);
    if (!owned) {
      if (!(await this.#acquire(id))) return;
      // Both a change and the sweep may have come here.
      owned = this.#owned.get(id);
      if (!owned) {
        const rollout = new DeploymentRollout(id, this.#options.parts);
        owned = { rollout, working: undefined, isAskedAgain: false, retries: 0, retryTimer: undefined, isLost: false };
        this.#owned.set(id, owned);
      }
    }
    owned.isAskedAgain = true;
    owned.working ??= this.#work(id, owned).finally(() => {
      owned.working = undefined;
    });
  }

  async #work(id: string, owned: Owned): Promise<void> {
    while (owned.isAskedAgain && !this.#isStopping && this.#owned.get(id) === owned) {
      owned.isAskedAgain = false;
      clearTimeout(owned.retryTimer);
      const result = await owned.rollout.step().catch((error: unknown) => {
        this.#logger.error('a deployment could not be worked on, trying again', { deploymentId: id, error });
        return 'retry' as const;
      });
      if (result === 'gone') {
        await this.#forget(id);
        return;
      }
      if (result === 'retry') this.#retryLater(id, owned);
      else owned.retries = 0;
    }
  }

  #retryLater(id: string, owned: Owned): void {
    const inMs = Math.min(FIRST_RETRY_MS * 2 ** owned.retries, LONGEST_RETRY_MS);
    owned.retries += 1;
    owned.retryTimer = setTimeout(() => void this.#workOn(id), inMs);
  }

  async #forget(id: string): Promise<void> {
    this.#owned.delete(id);
    await this.#release(id);
    for (const waiter of this.#removalWaiters.get(id) ?? []) waiter();
    this.#removalWaiters.delete(id);
  }

  async #letGo(id: string, graceMs: number, options: { keepRoute?: boolean; release: boolean }): Promise<void> {
    const owned = this.#owned.get(id);
    if (!owned) return;
    clearTimeout(owned.retryTimer);
    await owned.rollout.stop(graceMs, options).catch((error: unknown) => {
      this.#logger.error('a deployment did not stop well', { deploymentId: id, error });
    });
    await owned.working;
    this.#owned.delete(id);
    await this.#release(id);
  }

  /** All at once: ending what was lost with one lease may take longer than the others last. */
  async #renew(): Promise<void> {
    await Promise.all([...this.#owned].map(([id, owned]) => this.#keep(id, owned)));
  }

  /** A lease that another process took while this one slept is lost with everything that runs under it. */
  async #keep(id: string, owned: Owned): Promise<void> {
    if (owned.isLost || (await this.#acquire(id))) return;
    owned.isLost = true;
    this.#logger.error('another process took over a deployment, its processes here are ended', { deploymentId: id });
    await this.#letGo(id, 0, { keepRoute: true, release: true });
  }

  /** True too when the database cannot be asked: then nobody else can take the lease either. */
  async #acquire(id: string): Promise<boolean> {
    try {
      return await this.#options.ownership.acquire(id);
    } catch (error) {
      this.#logger.warn('the lease of a deployment could not be renewed', { deploymentId: id, error });
      return this.#owned.has(id);
    }
  }

  async #release(id: string): Promise<void> {
    await this.#options.ownership.release(id).catch((error: unknown) => {
      this.#logger.warn('the lease of a deployment could not be given back', { deploymentId: id, error });
    });
  }
}
