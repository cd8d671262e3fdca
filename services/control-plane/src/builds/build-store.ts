import type { DeploymentSource, PlatformBuild, PlatformImage, RevisionStatus } from '@runyard/contracts';
import {
  builtSources,
  type RevisionStatuses,
  type RolloutDeployment,
  type RolloutRevision,
} from '@runyard/deployments';
import type { Database } from '../database/database.ts';
import type { Revision } from '../generated/client.ts';
import { moveRevision } from '../revisions/revision-moves.ts';

/** The product of a build: an image, or a project to run as processes. */
export type BuildProduct = PlatformImage | PlatformBuild;

/** The statuses in which the platform has to build a revision. */
export const TO_BUILD: RevisionStatus[] = ['AWAITING_BUILD', 'BUILDING'];

/** Returns whether the platform has to build the revision before it goes on. Others have lost their builds. */
export const isWaitingForBuild = ({ status }: Pick<RolloutRevision, 'status'>) =>
  TO_BUILD.some((each) => each === status);

/** Orders in a row without an end, after which a build is given up. */
export const ORDERS_MAX = 3;
/** Milliseconds without a report after which a build may be ordered by another builder. */
const SILENT_MS = 5_000;
/** Milliseconds without a report after which a build is put into the queue again, if the queue has lost it. */
const LOST_MS = 30_000;

/** The database's clock decides, which all control-planes share. */
type Ordered = { isBegun: true; epoch: number } | { isBegun: false; why: 'being built' | 'given up' | 'no turn' };

/** The number of builds in progress of those that the condition selects. */
const inProgress = (condition: string) => `(
  SELECT count(*) FROM revision AS other JOIN deployment AS owner ON owner.id = other.deployment_id
  WHERE ${condition} AND other.build_reported_at >= now() - ${LOST_MS} * interval '1 millisecond')`;
const OF_ORGANIZATION = inProgress('owner.organization_id = deployment.organization_id');
const OF_WORKSPACE = inProgress('owner.workspace_id = deployment.workspace_id');

/** Stores revisions, as far as the platform builds them for the data planes. */
export class BuildStore implements RevisionStatuses {
  readonly #database: Database;
  readonly #ownSources: readonly DeploymentSource[];
  readonly #runsProjects: boolean;
  readonly #buildsMax: number | null;
  readonly #onMoved: (deploymentId: string) => void;

  /**
   * @param options.runsProjects false: data planes of the platform itself run images alone
   * @param options.buildsMax builds of one organization at once; undefined: as many as there are builders
   * @param options.onMoved is called when this process has changed a status
   */
  constructor(options: {
    database: Database;
    runsProjects: boolean;
    buildsMax?: number | undefined;
    onMoved: (deploymentId: string) => void;
  }) {
    this.#database = options.database;
    this.#ownSources = builtSources({ runsProjects: options.runsProjects });
    this.#runsProjects = options.runsProjects;
    this.#buildsMax = options.buildsMax ?? null;
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

  findRevision(id: string): Promise<Revision | null> {
    return this.#database.prisma.revision.findUnique({ where: { id } });
  }

  /**
   * Lists the revisions whose builds are kept: the active one, the latest, and unfinished ones that have been built.
   */
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

  /** Returns null when the deployment has nothing to build. */
  async nextToBuild(deploymentId: string): Promise<Revision | null> {
    const revision = await this.#database.prisma.revision.findFirst({
      where: { deploymentId, status: { in: TO_BUILD }, deployment: { deleteRequestedAt: null } },
      orderBy: { number: 'asc' },
    });
    if (revision) return revision;
    const [lacking] = await this.#lacking(deploymentId);
    return lacking ? this.findRevision(lacking.id) : null;
  }

  /** Returns the revision while it is the one of its deployment that is to be built; null otherwise. */
  async findToBuild(revisionId: string): Promise<Revision | null> {
    const revision = await this.findRevision(revisionId);
    const next = revision && (await this.nextToBuild(revision.deploymentId));
    return next?.id === revisionId ? next : null;
  }

  /** Returns the revision while the order with this epoch is its newest, and it is to be built; null otherwise. */
  async findOrdered(revisionId: string, epoch: number): Promise<Revision | null> {
    const revision = await this.findToBuild(revisionId);
    return revision?.buildEpoch === epoch && revision.buildReportedAt !== null ? revision : null;
  }

  /** Notes that nothing but a builder lacks to build the revision, unless one has begun meanwhile. */
  async awaitBuilder(revisionId: string): Promise<void> {
    await this.#database.pool.query(
      `UPDATE revision SET awaiting_builder_since = now()
       WHERE id = $1 AND awaiting_builder_since IS NULL
         AND (build_reported_at IS NULL OR build_reported_at < now() - $2 * interval '1 millisecond')`,
      [revisionId, LOST_MS],
    );
  }

  /**
   * Lets the other builds of its organization go before a revision, or forgets that it waits, when it is not to be built
   * any more.
   *
   * @returns the organization; undefined when the revision is deleted
   */
  async yieldTurn(revisionId: string, { isToBuild }: { isToBuild: boolean }): Promise<string | undefined> {
    const { rows } = await this.#database.pool.query<{ organizationId: string }>(
      `WITH yielded AS (
         UPDATE revision SET awaiting_builder_since = CASE WHEN $2 THEN now() END
         WHERE id = $1 AND awaiting_builder_since IS NOT NULL)
       SELECT organization_id AS "organizationId"
       FROM revision JOIN deployment ON deployment.id = deployment_id WHERE revision.id = $1`,
      [revisionId, isToBuild],
    );
    return rows[0]?.organizationId;
  }

  /**
   * Returns the organization's next build, of the workspace with the fewest in progress the one that waits the longest;
   * null when nothing waits, or the organization has as many in progress as it may.
   */
  async findNext(organizationId: string): Promise<Revision | null> {
    const { rows } = await this.#database.pool.query<{ id: string }>(
      `SELECT revision.id FROM revision JOIN deployment ON deployment.id = deployment_id
       WHERE organization_id = $1 AND delete_requested_at IS NULL AND awaiting_builder_since IS NOT NULL
         AND ($2::integer IS NULL OR ${OF_ORGANIZATION} < $2)
       ORDER BY ${OF_WORKSPACE}, awaiting_builder_since, revision.id LIMIT 1`,
      [organizationId, this.#buildsMax],
    );
    return rows[0] ? this.findRevision(rows[0].id) : null;
  }

  /**
   * Ends the order of a builder that is not heard of any more, so that another one gets the build.
   *
   * @returns false when it was heard of just now
   */
  async endSilentOrder(revisionId: string): Promise<boolean> {
    const { rowCount } = await this.#database.pool.query(
      `UPDATE revision SET build_reported_at = NULL, awaiting_builder_since = coalesce(awaiting_builder_since, now())
       WHERE id = $1 AND (build_reported_at IS NULL OR build_reported_at < now() - $2 * interval '1 millisecond')`,
      [revisionId, SILENT_MS],
    );
    return rowCount === 1;
  }

  /** Begins another order of a revision: older ones count for nothing from now on. */
  async beginOrder({ id: revisionId, buildEpoch }: Pick<Revision, 'id' | 'buildEpoch'>): Promise<Ordered> {
    const { rows } = await this.#database.pool.query<{ epoch: number }>(
      `UPDATE revision SET build_epoch = build_epoch + 1, unfinished_builds = unfinished_builds + 1,
         build_reported_at = now(), awaiting_builder_since = NULL
       FROM deployment
       WHERE deployment.id = deployment_id AND revision.id = $1 AND unfinished_builds < $2
         AND (build_reported_at IS NULL OR build_reported_at < now() - $3 * interval '1 millisecond')
         AND build_epoch = $5 AND ($4::integer IS NULL OR ${OF_ORGANIZATION} < $4)
       RETURNING build_epoch AS epoch`,
      [revisionId, ORDERS_MAX, SILENT_MS, this.#buildsMax, buildEpoch],
    );
    if (rows[0]) return { isBegun: true, epoch: rows[0].epoch };
    if (await this.#isHeard(revisionId, SILENT_MS)) return { isBegun: false, why: 'being built' };
    const revision = await this.findRevision(revisionId);
    return { isBegun: false, why: revision && revision.unfinishedBuilds < ORDERS_MAX ? 'no turn' : 'given up' };
  }

  /** Notes that the builder of an order is at work. @returns false when the order is not the newest, or has ended */
  async heard(revisionId: string, epoch: number): Promise<boolean> {
    const { rowCount } = await this.#database.pool.query(
      `UPDATE revision SET build_reported_at = now(), awaiting_builder_since = NULL
       WHERE id = $1 AND build_epoch = $2 AND build_reported_at IS NOT NULL`,
      [revisionId, epoch],
    );
    return rowCount === 1;
  }

  /**
   * Ends an order without a result.
   *
   * @param isCounted true when the order counts among those that no builder has ended
   */
  async endOrder(revisionId: string, epoch: number, { isCounted }: { isCounted: boolean }): Promise<void> {
    await this.#database.pool.query(
      `UPDATE revision SET build_reported_at = NULL, unfinished_builds = unfinished_builds - $3
       WHERE id = $1 AND build_epoch = $2`,
      [revisionId, epoch, isCounted ? 0 : 1],
    );
  }

  /** Returns whether a builder was heard of so recently that the queue must still have the build. */
  isBeingBuilt(revisionId: string): Promise<boolean> {
    return this.#isHeard(revisionId, LOST_MS);
  }

  async #isHeard(revisionId: string, silentMs: number): Promise<boolean> {
    const { rowCount } = await this.#database.pool.query(
      `SELECT 1 FROM revision WHERE id = $1 AND build_reported_at >= now() - $2 * interval '1 millisecond'`,
      [revisionId, silentMs],
    );
    return rowCount === 1;
  }

  /**
   * Notes that nobody builds a revision any more, as its build has failed. One that serves, and whose sources may be gone,
   * is not built again until a control-plane starts.
   */
  async giveUp({ id, status }: RolloutRevision): Promise<void> {
    const isServing = status === ('DEPLOYED' satisfies RevisionStatus);
    await this.#database.prisma.revision.updateMany({
      where: { id },
      data: {
        buildReportedAt: null,
        awaitingBuilderSince: null,
        ...(isServing && { unfinishedBuilds: ORDERS_MAX }),
      },
    });
  }

  /** Lets revisions that serve, and could not be built, be built once more. */
  async retryGivenUp(): Promise<void> {
    await this.#database.prisma.revision.updateMany({
      where: { status: 'DEPLOYED', unfinishedBuilds: { gte: ORDERS_MAX } },
      data: { unfinishedBuilds: 0 },
    });
  }

  /** Forgets the builds of all other revisions. @returns the keys of archives that no revision has any more */
  async dropBuilds(deploymentId: string, inUse: readonly RolloutRevision[]): Promise<string[]> {
    const { rows } = await this.#database.pool.query<{ key: string }>(
      `WITH used AS (SELECT image->>'key' AS key FROM revision WHERE id = ANY ($2::uuid[]) AND image ? 'key'), dropped AS (
         UPDATE revision SET image = NULL WHERE deployment_id = $1 AND image ? 'key' AND id <> ALL ($2::uuid[])
           AND image->>'key' NOT IN (SELECT key FROM used))
       SELECT key FROM build_archive WHERE deployment_id = $1 AND key NOT IN (SELECT key FROM used)`,
      [deploymentId, inUse.map(({ id }) => id)],
    );
    return rows.map(({ key }) => key);
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
         AND (image IS NULL OR (image ? 'key') <> $3) AND (revision.status <> 'DEPLOYED' OR unfinished_builds < $4)
         AND ($2::uuid IS NULL OR deployment.id = $2)
       ORDER BY revision.number`,
      [this.#ownSources, deploymentId ?? null, this.#runsProjects, ORDERS_MAX],
    );
    return rows;
  }

  async moveRevision(revision: RolloutRevision, to: RevisionStatus, message: string | null = null): Promise<boolean> {
    const isMoved = await this.#database.transact((transaction) => moveRevision(transaction, revision, to, message));
    if (isMoved) this.#onMoved(revision.deploymentId);
    return isMoved;
  }

  /**
   * Stores what the platform has made of the revision and passes the revision on to its data plane. Does nothing when the
   * revision has ended meanwhile.
   *
   * @param epoch the order that it was made by; undefined when nothing had to be built
   * @returns false when another order is the newest
   */
  async finishBuild(revision: RolloutRevision, image: BuildProduct, epoch?: number): Promise<boolean> {
    const { id } = revision;
    const isCurrent = await this.#database.transact(async (transaction) => {
      const data = { unfinishedBuilds: 0, buildReportedAt: null, awaitingBuilderSince: null };
      const where = { id, ...(epoch !== undefined && { buildEpoch: epoch, buildReportedAt: { not: null } }) };
      const { count } = await transaction.revision.updateMany({ where, data });
      if (count === 0) return false;
      const isToBuild = isWaitingForBuild(revision);
      if (isToBuild && !(await moveRevision(transaction, revision, 'AWAITING_DEPLOY'))) return true;
      await transaction.revision.update({ where: { id }, data: { image } });
      return true;
    });
    if (isCurrent) this.#onMoved(revision.deploymentId);
    return isCurrent;
  }
}
