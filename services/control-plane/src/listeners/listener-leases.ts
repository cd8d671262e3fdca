import type { DataPlaneLease, DataPlaneLeaseRequest } from '@runyard/contracts';
import { ConflictError, type Tenant } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { listenerStore } from '../deployments/listener-store.ts';
import { type Listener, Prisma } from '../generated/client.ts';
import { restoreStatuses } from './lease-expiry-watch.ts';
import { requireListener } from './listener-service.ts';

/**
 * Leases listeners to data planes: one connection of one data plane at a time represents a listener. Each connection
 * has an epoch, higher than all before; requests with a lower one change nothing. Every accepted request also renews
 * the lease.
 */
export class ListenerLeases {
  readonly #database: Database;
  readonly #leaseMs: number;

  constructor(options: { database: Database; leaseMs: number }) {
    this.#database = options.database;
    this.#leaseMs = options.leaseMs;
  }

  find(tenant: Tenant, id: string): Promise<Listener | null> {
    return listenerStore.find(this.#database.prisma, tenant, id);
  }

  /** @throws NotFoundError; ConflictError while another data plane holds the lease */
  async take(tenant: Tenant, id: string, request: DataPlaneLeaseRequest): Promise<DataPlaneLease> {
    const { instance_id: instanceId, version } = request;
    const publicUrl = request.public_url?.replace(/(?<!\/)\/+$/, '') ?? null;
    const epoch = await this.#database.transact(async (transaction) => {
      const listener = requireListener(await listenerStore.findForChange(transaction, tenant, id), id);
      const isHeld = listener.leaseUntil !== null && listener.leaseUntil.getTime() > Date.now();
      // A process with the same instance id is the same data plane after a restart. Its former process has ended or
      // will be refused.
      if (isHeld && listener.instanceId !== instanceId.toLowerCase()) throw leaseConflict(id);
      const taken = await transaction.listener.update({
        where: { id },
        data: {
          instanceId,
          epoch: { increment: 1 },
          publicUrl,
          podRules: request.pod_rules ?? Prisma.DbNull,
          ...(version == null ? {} : { version }),
          ...this.#makeRenewal(),
        },
      });
      await transaction.deployment.updateMany({ where: { listenerId: id }, data: { dataPlaneUrl: publicUrl } });
      await restoreStatuses(transaction, id);
      return taken.epoch;
    });
    return { epoch, lease_seconds: this.#leaseMs / 1000 };
  }

  /**
   * Runs the work for the data plane of this epoch, which keeps the listener until the transaction ends.
   *
   * @throws NotFoundError; ConflictError when the epoch is not the latest
   */
  async runAsOwner<T>(
    tenant: Tenant,
    { id, epoch }: { id: string; epoch: number },
    work: (transaction: Prisma.TransactionClient, listener: Listener) => Promise<T>,
  ): Promise<T> {
    return this.#database.transact(async (transaction) => {
      const listener = requireListener(await listenerStore.findForChange(transaction, tenant, id), id);
      if (listener.epoch !== epoch) throw leaseConflict(id);
      await transaction.listener.update({ where: { id }, data: this.#makeRenewal() });
      await restoreStatuses(transaction, id);
      return work(transaction, listener);
    });
  }

  #makeRenewal(): { leaseUntil: Date; lastSeenAt: Date } {
    const now = Date.now();
    return { leaseUntil: new Date(now + this.#leaseMs), lastSeenAt: new Date(now) };
  }
}

function leaseConflict(id: string): ConflictError {
  return new ConflictError(`Another data plane holds the lease of listener ${id}.`, { code: 'listener_lease_held' });
}
