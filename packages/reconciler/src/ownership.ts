import { acquireLeases, releaseLease } from '@runyard/leases';
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

/** Shares the work on deployments among the processes of one service, by leases in its database. */
export class LeasedOwnership implements Ownership {
  readonly leaseMs: number;
  readonly #pool: pg.Pool;
  readonly #owner: string;

  /** @param options.leaseOwner identifies this process as a lease owner (uuid) */
  constructor(options: { pool: pg.Pool; leaseOwner: string; leaseMs: number }) {
    this.leaseMs = options.leaseMs;
    this.#pool = options.pool;
    this.#owner = options.leaseOwner;
  }

  async acquire(deploymentIds: readonly string[]): Promise<Set<string>> {
    const names = deploymentIds.map(leaseNameOf);
    const acquired = await acquireLeases(this.#pool, { names, owner: this.#owner, leaseMs: this.leaseMs });
    return new Set(deploymentIds.filter((id) => acquired.has(leaseNameOf(id))));
  }

  async release(deploymentId: string): Promise<void> {
    await releaseLease(this.#pool, { name: leaseNameOf(deploymentId), owner: this.#owner });
  }
}

const leaseNameOf = (deploymentId: string) => `deployment/${deploymentId}`;
