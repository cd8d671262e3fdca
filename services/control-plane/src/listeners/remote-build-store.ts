import type { DeploymentSource, PlatformBuild, PlatformImage, RevisionStatus } from '@runyard/contracts';
import {
  builtSources,
  type RevisionStatuses,
  type RolloutDeployment,
  type RolloutRevision,
} from '@runyard/deployments';
import type { Database } from '../database/database.ts';
import { moveRevision } from '../revisions/revision-moves.ts';

/** The product of a build: an image, or a project to run as processes. */
export type BuildProduct = PlatformImage | PlatformBuild;

/** The statuses in which the platform has to build a revision. */
export const TO_BUILD: RevisionStatus[] = ['AWAITING_BUILD', 'BUILDING'];

/** Returns whether the platform has to build the revision before it goes on. Others have lost their builds. */
export const isWaitingForBuild = ({ status }: Pick<RolloutRevision, 'status'>) =>
  TO_BUILD.some((each) => each === status);

/** Stores revisions, as far as the platform builds them for the data planes. */
export class RemoteBuildStore implements RevisionStatuses {
  readonly #database: Database;
  readonly #ownSources: readonly DeploymentSource[];
  readonly #runsProjects: boolean;
  readonly #onMoved: (deploymentId: string) => void;
  /** Holds revisions that serve and could not be built. */
  readonly #givenUp = new Set<string>();

  /**
   * @param options.runsProjects false: data planes of the platform itself run images alone
   * @param options.onMoved is called when this process has changed a status
   */
  constructor(options: {
    database: Database;
    runsProjects: boolean;
    onMoved: (deploymentId: string) => void;
  }) {
    this.#database = options.database;
    this.#ownSources = builtSources({ runsProjects: options.runsProjects });
    this.#runsProjects = options.runsProjects;
    this.#onMoved = options.onMoved;
  }

  /** Returns the ids of deployments with a revision to build. */
  async allIds(): Promise<string[]> {
    const rows = await this.#database.prisma.revision.findMany({
      where: { status: { in: TO_BUILD }, deployment: { deleteRequestedAt: null } },
      distinct: ['deploymentId'],
      select: { deploymentId: true },
    });
    const all = [...rows, ...(await this.#lacking())];
    return [...new Set(all.map(({ deploymentId }) => deploymentId))];
  }

  find(id: string): Promise<RolloutDeployment | null> {
    return this.#database.prisma.deployment.findUnique({ where: { id } });
  }

  findRevision(id: string): Promise<RolloutRevision | null> {
    return this.#database.prisma.revision.findUnique({ where: { id } });
  }

  /**
   * Lists the revisions whose builds are kept: the active one, the latest, and unfinished ones that have been built.
   */
  async revisionsInUse(deploymentId: string): Promise<RolloutRevision[]> {
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

  /** Returns null when the deployment has nothing to build. */
  async nextToBuild(deploymentId: string): Promise<RolloutRevision | null> {
    const revision = await this.#database.prisma.revision.findFirst({
      where: { deploymentId, status: { in: TO_BUILD }, deployment: { deleteRequestedAt: null } },
      orderBy: { number: 'asc' },
    });
    if (revision) return revision;
    const [lacking] = await this.#lacking(deploymentId);
    return lacking ? this.findRevision(lacking.id) : null;
  }

  /** A revision that serves, and whose sources may be gone, is not built by this process again. */
  giveUp({ id, status }: RolloutRevision): void {
    if (status === 'DEPLOYED') this.#givenUp.add(id);
  }

  /** Forgets the builds of all other revisions. @returns the keys that no revision has any more */
  async dropBuilds(deploymentId: string, inUse: readonly RolloutRevision[]): Promise<string[]> {
    const ids = inUse.map(({ id }) => id);
    const rows = await this.#database.pool.query<{ key: string }>(
      `WITH dropped AS (
         UPDATE revision SET image = NULL WHERE deployment_id = $1 AND image ? 'key' AND id <> ALL ($2::uuid[])
           AND image->>'key' NOT IN (
             SELECT image->>'key' FROM revision WHERE id = ANY ($2::uuid[]) AND image ? 'key')
         RETURNING (SELECT before.image->>'key' FROM revision AS before WHERE before.id = revision.id) AS key)
       SELECT DISTINCT key FROM dropped`,
      [deploymentId, ids],
    );
    return rows.rows.map(({ key }) => key);
  }

  /**
   * Returns revisions of the platform's own deployments, of one or of all, that run or begin to run and have no build of
   * the kind that is run now: releases without data planes kept none, and `DRIVER` may have changed.
   */
  async #lacking(deploymentId?: string): Promise<{ id: string; deploymentId: string }[]> {
    const { rows } = await this.#database.pool.query<{ id: string; deploymentId: string }>(
      `SELECT revision.id, deployment_id AS "deploymentId"
       FROM deployment JOIN revision ON revision.deployment_id = deployment.id
       WHERE listener_id IS NULL AND delete_requested_at IS NULL AND revision.source = ANY ($1)
         AND (revision.id = active_revision_id OR revision.status IN ('AWAITING_DEPLOY', 'DEPLOYING'))
         AND (image IS NULL OR (image ? 'key') <> $3)
         AND ($2::uuid IS NULL OR deployment.id = $2)
       ORDER BY revision.number`,
      [this.#ownSources, deploymentId ?? null, this.#runsProjects],
    );
    return rows.filter(({ id }) => !this.#givenUp.has(id));
  }

  async moveRevision(revision: RolloutRevision, to: RevisionStatus, message: string | null = null): Promise<boolean> {
    const isMoved = await this.#database.transact((transaction) => moveRevision(transaction, revision, to, message));
    if (isMoved) this.#onMoved(revision.deploymentId);
    return isMoved;
  }

  /**
   * Stores what the platform has made of the revision and passes the revision on to its data plane. Does nothing when the
   * revision has ended meanwhile.
   */
  async finishBuild(revision: RolloutRevision, image: BuildProduct): Promise<void> {
    await this.#database.transact(async (transaction) => {
      const isToBuild = isWaitingForBuild(revision);
      if (isToBuild && !(await moveRevision(transaction, revision, 'AWAITING_DEPLOY'))) return;
      await transaction.revision.update({ where: { id: revision.id }, data: { image } });
    });
    this.#onMoved(revision.deploymentId);
  }
}
