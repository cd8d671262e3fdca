import { acquireDuties, releaseDuty } from '@runyard/database';
import type pg from 'pg';

/** Decides which deployments this process works on: at most one process at a time works on a deployment. */
export interface Ownership {
  /** Milliseconds that a lease lasts without renewal. */
  leaseMs: number;
  /**
   * Takes the deployments that are free and renews the leases of this process. Resolves with both; other processes have
   * the rest.
   */
  acquire(deploymentIds: readonly string[]): Promise<ReadonlySet<string>>;
  release(deploymentId: string): Promise<void>;
}

/** Shares the deployments among all processes of the control plane, by leases in its database. */
export class LeasedOwnership implements Ownership {
  readonly leaseMs: number;
  readonly #pool: pg.Pool;
  readonly #holder: string;

  /** @param options.holder identifies this process as a lease owner (uuid) */
  constructor(options: { pool: pg.Pool; holder: string; leaseMs: number }) {
    this.leaseMs = options.leaseMs;
    this.#pool = options.pool;
    this.#holder = options.holder;
  }

  async acquire(deploymentIds: readonly string[]): Promise<Set<string>> {
    const names = deploymentIds.map(dutyOf);
    const acquired = await acquireDuties(this.#pool, { names, holder: this.#holder, leaseMs: this.leaseMs });
    return new Set(deploymentIds.filter((id) => acquired.has(dutyOf(id))));
  }

  async release(deploymentId: string): Promise<void> {
    await releaseDuty(this.#pool, { name: dutyOf(deploymentId), holder: this.#holder });
  }
}

const dutyOf = (deploymentId: string) => `deployment/${deploymentId}`;
