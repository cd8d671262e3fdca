import type { DeploymentStatus, RevisionStatus } from '@runyard/contracts';
import { FINAL_REVISION_STATUSES } from '@runyard/contracts';
import { type Logger, PeriodicTask } from '@runyard/service-kit';
import { TO_BUILD } from '../builds/build-store.ts';
import type { Database } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { moveRevision } from '../revisions/revision-moves.ts';

/** Statuses of deployments that only their data plane can confirm. */
const CONFIRMED: DeploymentStatus[] = ['READY', 'AWAITING_DATABASE'];
const UNKNOWN = 'UNKNOWN' satisfies DeploymentStatus & RevisionStatus;
/** Statuses of revisions that do not depend on the data plane, such as those of builds. */
const INDEPENDENT: RevisionStatus[] = [...FINAL_REVISION_STATUSES, ...TO_BUILD, UNKNOWN];

const unfinishedOf = (listenerId: string): Prisma.RevisionWhereInput => ({
  deployment: { listenerId, status: { in: [...CONFIRMED, UNKNOWN] } },
  status: { notIn: INDEPENDENT },
});

/**
 * Sets the deployments and unfinished revisions of a data plane to `UNKNOWN` when its lease has expired, and keeps
 * their last status. Since statuses change only by accepted reports, they are restored with the data plane's next
 * request.
 */
export class LeaseExpiryWatch {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #task: PeriodicTask;

  constructor({ database, leaseMs, logger }: { database: Database; leaseMs: number; logger: Logger }) {
    this.#database = database;
    this.#logger = logger;
    const everyMs = Math.min(leaseMs / 4, 5_000);
    this.#task = new PeriodicTask({ name: 'listener leases', everyMs, run: () => this.#look(), logger });
  }

  start(): void {
    this.#task.start();
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async #look(): Promise<void> {
    const expired = await this.#database.prisma.listener.findMany({
      where: {
        leaseUntil: { lt: new Date() },
        deployments: {
          some: {
            OR: [
              { status: { in: CONFIRMED } },
              { status: UNKNOWN, revisions: { some: { status: { notIn: INDEPENDENT } } } },
            ],
          },
        },
      },
      select: { id: true },
    });
    for (const { id } of expired) {
      // A failure for one listener does not hold up the others.
      await this.#database
        .transact((transaction) => this.#markUnknown(transaction, id))
        .catch((error: unknown) => {
          this.#logger.warn('lease expiry not handled, will retry', { listenerId: id, error });
        });
    }
  }

  async #markUnknown(transaction: Prisma.TransactionClient, id: string): Promise<void> {
    await transaction.$queryRaw`SELECT 1 FROM listener WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
    const listener = await transaction.listener.findUnique({ where: { id } });
    // The data plane made a request, or the listener was deleted, a moment ago.
    if (!listener?.leaseUntil || listener.leaseUntil.getTime() > Date.now()) return;
    const message = `Its data plane has not been heard of since ${listener.lastSeenAt?.toISOString()}.`;
    for (const revision of await transaction.revision.findMany({ where: unfinishedOf(id) })) {
      if (!(await moveRevision(transaction, revision, UNKNOWN, message))) continue;
      await transaction.revision.update({ where: { id: revision.id }, data: { lastKnownStatus: revision.status } });
    }
    for (const status of CONFIRMED) {
      await transaction.deployment.updateMany({
        where: { listenerId: id, status },
        data: { status: UNKNOWN, lastKnownStatus: status },
      });
    }
    this.#logger.warn('data plane lease expired', { listenerId: id });
  }
}

/** Restores the last known statuses of a listener's deployments and revisions, after its data plane made a request. */
export async function restoreStatuses(transaction: Prisma.TransactionClient, listenerId: string): Promise<void> {
  const silent = await transaction.deployment.findMany({
    where: { listenerId, lastKnownStatus: { not: null } },
    select: { id: true, status: true, lastKnownStatus: true },
  });
  if (silent.length === 0) return;
  for (const { id, status, lastKnownStatus } of silent) {
    const data = { lastKnownStatus: null, ...(status === UNKNOWN ? { status: lastKnownStatus! } : {}) };
    await transaction.deployment.update({ where: { id }, data });
  }
  const revisions = await transaction.revision.findMany({
    where: { deployment: { listenerId }, lastKnownStatus: { not: null } },
    orderBy: { number: 'asc' },
  });
  for (const revision of revisions) {
    if (revision.status === UNKNOWN) {
      await moveRevision(transaction, revision, revision.lastKnownStatus as RevisionStatus);
    }
    await transaction.revision.update({ where: { id: revision.id }, data: { lastKnownStatus: null } });
  }
}
