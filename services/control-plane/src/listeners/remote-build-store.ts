import type { PlatformImage, RevisionStatus } from '@runyard/contracts';
import type { Database } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import type { ImageArtifact } from '../revisions/driver.ts';
import { moveRevision } from '../revisions/revision-moves.ts';
import { PostgresRolloutStore, type RolloutRevision } from '../revisions/rollout-store.ts';

/** The statuses in which the platform has to build a revision. */
export const TO_BUILD: RevisionStatus[] = ['AWAITING_BUILD', 'BUILDING'];

/** Stores the roll-outs of deployments that run elsewhere, as far as the platform builds for them. */
export class RemoteBuildStore extends PostgresRolloutStore {
  readonly #database: Database;
  readonly #deployments: Prisma.DeploymentWhereInput;
  readonly #onMoved: (deploymentId: string) => void;

  /**
   * @param options.isApart data planes apart from this service run the platform's own deployments too
   * @param options.onMoved is called when this process has changed a status
   */
  constructor(options: { database: Database; isApart: boolean; onMoved: (deploymentId: string) => void }) {
    super(options.database);
    this.#database = options.database;
    this.#deployments = { deleteRequestedAt: null, ...(!options.isApart && { listenerId: { not: null } }) };
    this.#onMoved = options.onMoved;
  }

  /** Returns the ids of deployments with a revision to build. */
  override async allIds(): Promise<string[]> {
    const rows = await this.#database.prisma.revision.findMany({
      where: { status: { in: TO_BUILD }, deployment: this.#deployments },
      distinct: ['deploymentId'],
      select: { deploymentId: true },
    });
    return rows.map(({ deploymentId }) => deploymentId);
  }

  /** Returns null when the deployment has nothing to build. */
  nextToBuild(deploymentId: string): Promise<RolloutRevision | null> {
    return this.#database.prisma.revision.findFirst({
      where: { deploymentId, status: { in: TO_BUILD }, deployment: this.#deployments },
      orderBy: { number: 'asc' },
    });
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
   * Stores the revision's image and passes the revision on to its data plane. Does nothing when the revision has ended
   * meanwhile.
   */
  async finishBuild(
    revision: RolloutRevision,
    { imageUri: uri, settings, architecture }: ImageArtifact,
  ): Promise<void> {
    const image: PlatformImage = { uri, settings, architecture };
    await this.#database.transact(async (transaction) => {
      if (!(await moveRevision(transaction, revision, 'AWAITING_DEPLOY'))) return;
      await transaction.revision.update({ where: { id: revision.id }, data: { image } });
    });
    this.#onMoved(revision.deploymentId);
  }
}
