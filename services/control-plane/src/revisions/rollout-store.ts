import type { RevisionStatus } from '@runyard/contracts';
import type { Database } from '../database/database.ts';
import { deploymentEvents, routeOf } from '../events/deployment-events.ts';
import type { Deployment, Prisma, Revision } from '../generated/client.ts';
import { activateRevision, isNotDeleted } from './activate-revision.ts';
import type { DesiredHalt, HaltOutcome } from './halts/desired-halt.ts';
import { haltStore } from './halts/halt-store.ts';
import { moveRevision } from './revision-moves.ts';
import { TERMINAL } from './revision-transitions.ts';

export type RolloutDeployment = Pick<
  Deployment,
  | 'id'
  | 'organizationId'
  | 'workspaceId'
  | 'name'
  | 'slug'
  | 'customHost'
  | 'status'
  | 'activeRevisionId'
  | 'latestRevisionId'
  | 'deleteRequestedAt'
  | 'encryptedDatabasePassword'
>;

export type RolloutRevision = Pick<
  Revision,
  | 'id'
  | 'deploymentId'
  | 'number'
  | 'status'
  | 'source'
  | 'sourceConfig'
  | 'sourceRevisionConfig'
  | 'encryptedSecrets'
  | 'secretReferences'
>;

export interface Activation {
  upstreams: string[];
  hasCustomAuth: boolean;
  /** The path below which the revision serves everything; null when it has none or it is not known yet. */
  mountPrefix: string | null;
  /** Null for an image with a server of its own. */
  imageVersion: string | null;
}

/** Stores deployments for the processes that run them, across all tenants. */
export interface RolloutStore {
  allIds(): Promise<string[]>;
  find(id: string): Promise<RolloutDeployment | null>;
  findRevision(id: string): Promise<RolloutRevision | null>;
  /** Lists unfinished revisions, the oldest first. */
  openRevisions(deploymentId: string): Promise<RolloutRevision[]>;
  /**
   * Lists the revisions whose builds are kept: the active one, the latest, and unfinished ones that have been built.
   */
  revisionsInUse(deploymentId: string): Promise<RolloutRevision[]>;
  /** Stores the password unless there is one, and returns the stored one. */
  storeDatabasePassword(id: string, encrypted: string): Promise<string>;
  markDatabaseReady(id: string): Promise<void>;
  /** Returns false when the revision's status does not allow the change, because another change was faster. */
  moveRevision(revision: RolloutRevision, to: RevisionStatus, message?: string | null): Promise<boolean>;
  /**
   * Makes the revision the active one. Returns false, and changes nothing, when it was interrupted or deleted
   * meanwhile.
   */
  activate(revision: RolloutRevision, activation: Activation): Promise<boolean>;
  /** Does nothing when the upstreams have not changed. */
  setUpstreams(id: string, upstreams: string[]): Promise<void>;
  /** Does nothing when the prefix has not changed, or the revision is not the active one. */
  setMountPrefix(id: string, revisionId: string, mountPrefix: string | null): Promise<void>;
  /** Returns undefined for a deployment that was never halted. */
  findHalt(id: string): Promise<DesiredHalt | undefined>;
  /** Reports how far the halt is. Fails at once when that is not possible, because the caller tries again. */
  reportHalt(id: string, outcome: HaltOutcome): Promise<void>;
  /** Deletes the last row of the deployment. */
  remove(id: string): Promise<void>;
}

/** Stores the deployments that the platform runs itself. Every change writes its events in the same transaction. */
export class PostgresRolloutStore implements RolloutStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async allIds(): Promise<string[]> {
    const rows = await this.#database.prisma.deployment.findMany({
      where: { listenerId: null },
      select: { id: true },
      orderBy: { createdAt: 'asc' },
    });
    return rows.map((row) => row.id);
  }

  find(id: string): Promise<Deployment | null> {
    return this.#database.prisma.deployment.findUnique({ where: { id } });
  }

  findRevision(id: string): Promise<Revision | null> {
    return this.#database.prisma.revision.findUnique({ where: { id } });
  }

  openRevisions(deploymentId: string): Promise<Revision[]> {
    return this.#database.prisma.revision.findMany({
      where: { deploymentId, status: { notIn: [...TERMINAL] } },
      orderBy: { number: 'asc' },
    });
  }

  async revisionsInUse(deploymentId: string): Promise<Revision[]> {
    const deployment = await this.find(deploymentId);
    const named = [deployment?.activeRevisionId, deployment?.latestRevisionId].filter((id) => id != null);
    const underWay = { in: ['BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING'] satisfies RevisionStatus[] };
    return this.#database.prisma.revision.findMany({
      where: {
        deploymentId,
        OR: [
          { id: { in: named }, status: { in: ['DEPLOYED', 'DEPLOY_FAILED'] } },
          { status: underWay },
          { status: 'UNKNOWN', lastKnownStatus: underWay },
        ],
      },
    });
  }

  async storeDatabasePassword(id: string, encrypted: string): Promise<string> {
    return this.#database.transact(async (transaction) => {
      await transaction.deployment.updateMany({
        where: { id, encryptedDatabasePassword: null },
        data: { encryptedDatabasePassword: encrypted },
      });
      const row = await transaction.deployment.findUniqueOrThrow({ where: { id } });
      return row.encryptedDatabasePassword ?? encrypted;
    });
  }

  async markDatabaseReady(id: string): Promise<void> {
    await this.#database.prisma.deployment.updateMany({
      where: { id, status: { in: ['AWAITING_DATABASE', 'UNUSED'] } },
      data: { status: 'READY' },
    });
  }

  moveRevision(revision: RolloutRevision, to: RevisionStatus, message: string | null = null): Promise<boolean> {
    return this.#database.transact((transaction) => moveRevision(transaction, revision, to, message));
  }

  async activate(revision: RolloutRevision, activation: Activation): Promise<boolean> {
    return this.#database.transact(async (transaction) => {
      const fields = { ...activation, mountPrefixRevisionId: revision.id, routeVersion: { increment: 1 } };
      const changed = await activateRevision(transaction, revision, fields);
      if (!changed) return false;
      const { before, after } = changed;
      await deploymentEvents.routeChanged(transaction, after);
      if (after.hasCustomAuth !== before.hasCustomAuth) await deploymentEvents.authModeChanged(transaction, after);
      return true;
    });
  }

  async setUpstreams(id: string, upstreams: string[]): Promise<void> {
    await this.#database.transact(async (transaction) => {
      const row = await transaction.deployment.findUnique({ where: { id } });
      if (!row || row.deleteRequestedAt || isEqual(row.upstreams, upstreams)) return;
      await changeRoute(transaction, id, { upstreams });
    });
  }

  async setMountPrefix(id: string, revisionId: string, mountPrefix: string | null): Promise<void> {
    await this.#database.transact(async (transaction) => {
      if (!(await isNotDeleted(transaction, id))) return;
      const row = await transaction.deployment.findUniqueOrThrow({ where: { id } });
      if (row.activeRevisionId !== revisionId || routeOf(row).mount_prefix === mountPrefix) return;
      await changeRoute(transaction, id, { mountPrefix, mountPrefixRevisionId: revisionId });
    });
  }

  findHalt(id: string): Promise<DesiredHalt | undefined> {
    return haltStore.desired(this.#database.prisma, id);
  }

  reportHalt(id: string, outcome: HaltOutcome): Promise<void> {
    return haltStore.record(this.#database.prisma, { id }, outcome);
  }

  /** Deletes the row. The events were written when the deletion was requested. */
  async remove(id: string): Promise<void> {
    await this.#database.prisma.deployment.deleteMany({ where: { id, deleteRequestedAt: { not: null } } });
  }
}

async function changeRoute(
  transaction: Prisma.TransactionClient,
  id: string,
  data: Partial<Activation> & { mountPrefixRevisionId?: string },
): Promise<void> {
  const row = await transaction.deployment.update({
    where: { id },
    data: { ...data, routeVersion: { increment: 1 } },
  });
  await deploymentEvents.routeChanged(transaction, row);
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}
