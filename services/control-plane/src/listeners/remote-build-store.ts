import type { DeploymentSource, PlatformBuild, PlatformImage, RevisionStatus } from '@runyard/contracts';
import type { Database } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { moveRevision } from '../revisions/revision-moves.ts';
import { PostgresRolloutStore, type RolloutRevision } from '../revisions/rollout-store.ts';

/** The product of a build: an image, or a project to run as processes. */
export type BuildProduct = PlatformImage | PlatformBuild;

/** The statuses in which the platform has to build a revision. */
export const TO_BUILD: RevisionStatus[] = ['AWAITING_BUILD', 'BUILDING'];

/** Stores the roll-outs of deployments that run elsewhere, as far as the platform builds for them. */
export class RemoteBuildStore extends PostgresRolloutStore {
  readonly #database: Database;
  readonly #deployments: Prisma.DeploymentWhereInput;
  readonly #elsewhere: readonly DeploymentSource[];
  readonly #onMoved: (deploymentId: string) => void;
  /** Holds revisions that serve and could not be built. */
  readonly #givenUp = new Set<string>();

  /**
   * @param options.elsewhere the sources that are built for data planes of the platform itself; empty: it has none
   * @param options.onMoved is called when this process has changed a status
   */
  constructor(options: {
    database: Database;
    elsewhere: readonly DeploymentSource[];
    onMoved: (deploymentId: string) => void;
  }) {
    super(options.database);
    this.#database = options.database;
    this.#elsewhere = options.elsewhere;
    const isApart = options.elsewhere.length > 0;
    this.#deployments = { deleteRequestedAt: null, ...(!isApart && { listenerId: { not: null } }) };
    this.#onMoved = options.onMoved;
  }

  /** Returns the ids of deployments with a revision to build. */
  override async allIds(): Promise<string[]> {
    const rows = await this.#database.prisma.revision.findMany({
      where: { status: { in: TO_BUILD }, deployment: this.#deployments },
      distinct: ['deploymentId'],
      select: { deploymentId: true },
    });
    const all = [...rows, ...(await this.#lacking())];
    return [...new Set(all.map(({ deploymentId }) => deploymentId))];
  }

  /** Returns null when the deployment has nothing to build. */
  async nextToBuild(deploymentId: string): Promise<RolloutRevision | null> {
    const revision = await this.#database.prisma.revision.findFirst({
      where: { deploymentId, status: { in: TO_BUILD }, deployment: this.#deployments },
      orderBy: { number: 'asc' },
    });
    if (revision) return revision;
    const [lacking] = await this.#lacking(deploymentId);
    return lacking ? this.findRevision(lacking.id) : null;
  }

  /** Builds a revision that serves no more in this process, whose sources may be gone. */
  giveUp({ id }: RolloutRevision): void {
    this.#givenUp.add(id);
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
   * Returns the active revisions of the platform's own deployments that were built before they ran elsewhere: of one
   * deployment, or of all.
   */
  async #lacking(deploymentId?: string): Promise<{ id: string; deploymentId: string }[]> {
    if (this.#elsewhere.length === 0) return [];
    const { rows } = await this.#database.pool.query<{ id: string; deploymentId: string }>(
      `SELECT revision.id, deployment_id AS "deploymentId"
       FROM deployment JOIN revision ON revision.id = active_revision_id
       WHERE listener_id IS NULL AND delete_requested_at IS NULL AND image IS NULL AND revision.source = ANY ($1)
         AND ($2::uuid IS NULL OR deployment.id = $2)`,
      [this.#elsewhere, deploymentId ?? null],
    );
    return rows.filter(({ id }) => !this.#givenUp.has(id));
  }

  override async moveRevision(
    revision: RolloutRevision,
    to: RevisionStatus,
    message: string | null = null,
  ): Promise<boolean> {
    const isMoved = await super.moveRevision(revision, to, message);
    if (isMoved) this.#onMoved(revision.deploymentId);
    return isMoved;
  }

  /**
   * Stores what the platform has made of the revision and passes the revision on to its data plane. Does nothing when the
   * revision has ended meanwhile.
   */
  async finishBuild(revision: RolloutRevision, image: BuildProduct): Promise<void> {
    await this.#database.transact(async (transaction) => {
      const isServing = revision.status === 'DEPLOYED';
      if (!isServing && !(await moveRevision(transaction, revision, 'AWAITING_DEPLOY'))) return;
      await transaction.revision.update({ where: { id: revision.id }, data: { image } });
    });
    this.#onMoved(revision.deploymentId);
  }
}
