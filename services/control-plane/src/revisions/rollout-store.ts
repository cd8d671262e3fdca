import type { RevisionStatus } from '@runyard/contracts';
import type { Database } from '../database/database.ts';
import type { Deployment, Revision } from '../generated/client.ts';
import { storePassword } from './database-passwords.ts';
import type { DesiredHalt, HaltOutcome } from './halts/desired-halt.ts';
import { haltStore } from './halts/halt-store.ts';
import { moveRevision } from './revision-moves.ts';
import { TERMINAL } from './revision-transitions.ts';
import { routeChanges } from './route-changes.ts';

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

  storeDatabasePassword(id: string, encrypted: string): Promise<string> {
    return this.#database.transact((transaction) => storePassword(transaction, id, encrypted));
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

  activate(revision: RolloutRevision, activation: Activation): Promise<boolean> {
    return this.#database.transact((transaction) => routeChanges.activate(transaction, revision, activation));
  }

  setUpstreams(id: string, upstreams: string[]): Promise<void> {
    return this.#database.transact((transaction) => routeChanges.setUpstreams(transaction, id, upstreams));
  }

  setMountPrefix(id: string, revisionId: string, mountPrefix: string | null): Promise<void> {
    return this.#database.transact((transaction) =>
      routeChanges.setMountPrefix(transaction, id, revisionId, mountPrefix),
    );
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
