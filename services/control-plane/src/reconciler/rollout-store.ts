import type { RevisionStatus } from '@runyard/contracts';
import type { Database } from '../database/database.ts';
import { deploymentEvents } from '../events/deployment-events.ts';
import type { Deployment, Prisma, Revision } from '../generated/client.ts';
import { moveRevision } from '../revisions/revision-moves.ts';
import { TERMINAL } from '../revisions/revision-transitions.ts';

export type RolloutDeployment = Pick<
  Deployment,
  | 'id'
  | 'workspaceId'
  | 'status'
  | 'activeRevisionId'
  | 'latestRevisionId'
  | 'deleteRequestedAt'
  | 'sealedDatabasePassword'
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
  | 'sealedSecrets'
  | 'secretReferences'
>;

export interface Serving {
  upstreams: string[];
  hasCustomAuth: boolean;
  /** Null: of an image with a server of its own. */
  imageVersion: string | null;
}

/** Deployments as whoever runs them works on them, whoever they belong to. */
export interface RolloutStore {
  allIds(): Promise<string[]>;
  find(id: string): Promise<RolloutDeployment | null>;
  findRevision(id: string): Promise<RolloutRevision | null>;
  /** Revisions that have not come to an end, oldest first. */
  openRevisions(deploymentId: string): Promise<RolloutRevision[]>;
  /** Those whose builds are to be kept: the active revision, the latest, and those under way, where they came so far. */
  revisionsInUse(deploymentId: string): Promise<RolloutRevision[]>;
  /** Keeps the password if there is one already; returns the one that holds. */
  keepDatabasePassword(id: string, sealed: string): Promise<string>;
  databaseIsReady(id: string): Promise<void>;
  /** False when the revision is in a status this one may not follow: another change was faster. */
  moveRevision(revision: RolloutRevision, to: RevisionStatus, message?: string | null): Promise<boolean>;
  /** The revision is the one that serves now; false when it was interrupted or deleted meanwhile, and nothing changed. */
  activate(revision: RolloutRevision, serving: Serving): Promise<boolean>;
  /** Nothing happens when they are those already known. */
  setUpstreams(id: string, upstreams: string[]): Promise<void>;
  /** The last trace. */
  remove(id: string): Promise<void>;
}

/** Those that the platform runs itself. Every change writes the events that tell of it in the same transaction. */
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

  async keepDatabasePassword(id: string, sealed: string): Promise<string> {
    return this.#database.change(async (transaction) => {
      await transaction.deployment.updateMany({
        where: { id, sealedDatabasePassword: null },
        data: { sealedDatabasePassword: sealed },
      });
      const row = await transaction.deployment.findUniqueOrThrow({ where: { id } });
      return row.sealedDatabasePassword ?? sealed;
    });
  }

  async databaseIsReady(id: string): Promise<void> {
    await this.#database.prisma.deployment.updateMany({
      where: { id, status: { in: ['AWAITING_DATABASE', 'UNUSED'] } },
      data: { status: 'READY' },
    });
  }

  moveRevision(revision: RolloutRevision, to: RevisionStatus, message: string | null = null): Promise<boolean> {
    return this.#database.change((transaction) => moveRevision(transaction, revision, to, message));
  }

  async activate(revision: RolloutRevision, serving: Serving): Promise<boolean> {
    return this.#database.change(async (transaction) => {
      // That it is deleted was told: no later route may bring it back.
      if (!(await isToStay(transaction, revision.deploymentId))) return false;
      if (!(await moveRevision(transaction, revision, 'DEPLOYED'))) return false;
      const before = await transaction.deployment.findUniqueOrThrow({ where: { id: revision.deploymentId } });
      const after = await changeRoute(transaction, before.id, { activeRevisionId: revision.id, ...serving });
      if (after.hasCustomAuth !== before.hasCustomAuth) await deploymentEvents.authModeChanged(transaction, after);
      return true;
    });
  }

  async setUpstreams(id: string, upstreams: string[]): Promise<void> {
    await this.#database.change(async (transaction) => {
      const row = await transaction.deployment.findUnique({ where: { id } });
      if (!row || row.deleteRequestedAt || same(row.upstreams, upstreams)) return;
      await changeRoute(transaction, id, { upstreams });
    });
  }

  /** Its events were written when the deletion was asked for. */
  async remove(id: string): Promise<void> {
    await this.#database.prisma.deployment.deleteMany({ where: { id, deleteRequestedAt: { not: null } } });
  }
}

/** Until the transaction ends, too. */
async function isToStay(transaction: Prisma.TransactionClient, id: string): Promise<boolean> {
  const rows = await transaction.$queryRaw<unknown[]>`
    SELECT 1 FROM deployment WHERE id = ${id}::uuid AND delete_requested_at IS NULL FOR UPDATE`;
  return rows.length > 0;
}

async function changeRoute(
  transaction: Prisma.TransactionClient,
  id: string,
  data: { activeRevisionId?: string; upstreams: string[]; hasCustomAuth?: boolean; imageVersion?: string | null },
): Promise<Deployment> {
  const row = await transaction.deployment.update({
    where: { id },
    data: { ...data, routeVersion: { increment: 1 } },
  });
  await deploymentEvents.routeChanged(transaction, row);
  return row;
}

function same(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}
