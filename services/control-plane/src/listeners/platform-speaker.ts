import type { DataPlaneLease, DataPlaneLeaseRequest } from '@runyard/contracts';
import { InvalidFieldError } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { PLATFORM_SIGNAL } from '../deployments/rollout-signals.ts';
import { Prisma } from '../generated/client.ts';
import type { ContinuousService } from './continuous-service.ts';
import { leaseConflict, type OwnedWork, type Speaker } from './speaker.ts';

/** Days without a lease after which nobody will return as this data plane. */
const FORGOTTEN_DAYS = 30;

/**
 * A data plane of the platform itself. Any number of them share the deployments that no listener has: a deployment is
 * held by one as long as that has its lease, and then by the first that asks what it has to run.
 */
export class PlatformSpeaker implements Speaker {
  readonly isPlatform = true;
  readonly signal = PLATFORM_SIGNAL;
  readonly lookMs: number;
  readonly #database: Database;
  readonly #leaseMs: number;
  readonly #service: ContinuousService;
  /** By the database's clock, since several control-planes give and compare leases. */
  readonly #leaseUntil: Prisma.Sql;
  readonly #id: string;

  constructor(options: { database: Database; leaseMs: number; service: ContinuousService }, id: string) {
    this.#service = options.service;
    this.#database = options.database;
    this.#leaseMs = options.leaseMs;
    this.#leaseUntil = Prisma.sql`now() + make_interval(secs => ${options.leaseMs / 1000})`;
    this.#id = id;
    this.lookMs = options.leaseMs / 4;
  }

  async require(): Promise<void> {}

  async take(request: DataPlaneLeaseRequest): Promise<DataPlaneLease> {
    const { instance_id: instanceId, version = null, public_url: publicUrl, pod_rules: podRules } = request;
    if (instanceId.toLowerCase() !== this.#id)
      throw new InvalidFieldError(['body', 'instance_id'], 'A data plane of the platform speaks for itself');
    if (publicUrl != null) throw new InvalidFieldError(['body', 'public_url'], 'This is for listeners');
    if (podRules != null) throw new InvalidFieldError(['body', 'pod_rules'], 'This is for listeners');
    const { epoch } = await this.#database.transact(async (transaction) => {
      await transaction.$executeRaw`
        DELETE FROM data_plane WHERE lease_until < now() - make_interval(days => ${FORGOTTEN_DAYS})`;
      const [row] = await transaction.$queryRaw<{ epoch: number }[]>`
        INSERT INTO data_plane (id, version, epoch, lease_until, last_seen_at)
        VALUES (${this.#id}::uuid, ${version}, 1, ${this.#leaseUntil}, now())
        ON CONFLICT (id) DO UPDATE SET version = excluded.version, epoch = data_plane.epoch + 1,
          lease_until = excluded.lease_until, last_seen_at = excluded.last_seen_at
        RETURNING epoch`;
      return row!;
    });
    return { epoch, lease_seconds: this.#leaseMs / 1000 };
  }

  async release(epoch: number): Promise<void> {
    await this.runAsOwner(epoch, async (transaction) => {
      await transaction.$executeRaw`
        UPDATE deployment SET data_plane_id = NULL WHERE listener_id IS NULL AND data_plane_id = ${this.#id}::uuid`;
      await transaction.$executeRaw`
        UPDATE data_plane SET epoch = epoch + 1, lease_until = now() WHERE id = ${this.#id}::uuid`;
    });
  }

  async takeUp(transaction: Prisma.TransactionClient): Promise<void> {
    this.#service.served();
    const isFree = this.#service.isLongEnough
      ? Prisma.sql`NOT EXISTS (SELECT FROM data_plane WHERE data_plane.id = data_plane_id AND lease_until > now())`
      : Prisma.sql`data_plane_id IS NULL`;
    await transaction.$executeRaw`
      UPDATE deployment SET data_plane_id = ${this.#id}::uuid
      WHERE id IN (
        SELECT id FROM deployment
        WHERE listener_id IS NULL AND data_plane_id IS DISTINCT FROM ${this.#id}::uuid AND ${isFree}
        FOR NO KEY UPDATE SKIP LOCKED)`;
  }

  async runAsOwner<T>(epoch: number, work: OwnedWork<T>): Promise<T> {
    return this.#database.transact(async (transaction) => {
      const renewed = await transaction.$executeRaw`
        UPDATE data_plane SET lease_until = ${this.#leaseUntil}, last_seen_at = now()
        WHERE id = ${this.#id}::uuid AND epoch = ${epoch}`;
      if (renewed === 0) throw leaseConflict(this.#id);
      return work(transaction, { listenerId: null, dataPlaneId: this.#id });
    });
  }
}
