import type { DataPlaneLease, DataPlaneLeaseRequest } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import type { Tenant } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { listenerStore } from '../deployments/listener-store.ts';
import { signalOf } from '../deployments/rollout-signals.ts';
import { Prisma } from '../generated/client.ts';
import { restoreStatuses } from './lease-expiry-watch.ts';
import { requireListener } from './listener-service.ts';
import { leaseConflict, type OwnedWork, type Speaker } from './speaker.ts';

/** A listener of a workspace, which one data plane at a time represents. */
export class ListenerSpeaker implements Speaker {
  readonly isPlatform = false;
  readonly signal: string;
  readonly lookMs = Number.POSITIVE_INFINITY;
  readonly #database: Database;
  readonly #leaseMs: number;
  readonly #tenant: Tenant;
  readonly #id: string;

  constructor(options: { database: Database; leaseMs: number }, tenant: Tenant, id: string) {
    this.#database = options.database;
    this.#leaseMs = options.leaseMs;
    this.#tenant = tenant;
    this.#id = id;
    this.signal = signalOf(id);
  }

  async require(): Promise<void> {
    requireListener(await listenerStore.find(this.#database.prisma, this.#tenant, this.#id), this.#id);
  }

  async take(request: DataPlaneLeaseRequest): Promise<DataPlaneLease> {
    const { instance_id: instanceId, version } = request;
    const id = this.#id;
    const publicUrl = request.public_url?.replace(/(?<!\/)\/+$/, '') ?? null;
    const epoch = await this.#database.transact(async (transaction) => {
      const listener = requireListener(await listenerStore.findForChange(transaction, this.#tenant, id), id);
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
          ...(version == null ? {} : { version: toSqlText(version) }),
          ...this.#makeRenewal(),
        },
      });
      await transaction.deployment.updateMany({ where: { listenerId: id }, data: { dataPlaneUrl: publicUrl } });
      await restoreStatuses(transaction, id);
      return taken.epoch;
    });
    return { epoch, lease_seconds: this.#leaseMs / 1000 };
  }

  /** Does nothing: the listener's deployments are `UNKNOWN` only when its data plane does not come back in time. */
  async release(): Promise<void> {}

  /** Does nothing: deployments are placed when they are created. */
  async takeUp(): Promise<void> {}

  async runAsOwner<T>(epoch: number, work: OwnedWork<T>): Promise<T> {
    const id = this.#id;
    return this.#database.transact(async (transaction) => {
      const listener = requireListener(await listenerStore.findForChange(transaction, this.#tenant, id), id);
      if (listener.epoch !== epoch) throw leaseConflict(id);
      await transaction.listener.update({ where: { id }, data: this.#makeRenewal() });
      await restoreStatuses(transaction, id);
      return work(transaction, { listenerId: id });
    });
  }

  #makeRenewal(): { leaseUntil: Date; lastSeenAt: Date } {
    const now = Date.now();
    return { leaseUntil: new Date(now + this.#leaseMs), lastSeenAt: new Date(now) };
  }
}
