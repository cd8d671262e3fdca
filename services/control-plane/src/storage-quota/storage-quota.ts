import type { StorageLimits, StoredBytes, StoredBytesRequest } from '@runyard/contracts';
import { addSums, findRoom, type Room } from '@runyard/object-storage';
import type pg from 'pg';
import Type, { type Static } from 'typebox';

const GIBIBYTE = 1024 ** 3;

export const storageQuotaVariables = {
  STORAGE_MAX_BYTES_PER_DEPLOYMENT: Type.Integer({
    default: 50 * GIBIBYTE,
    minimum: 1,
    description: 'Bytes of uploaded sources, archives of builds and images of one deployment.',
  }),
  STORAGE_MAX_BYTES_PER_WORKSPACE: Type.Integer({
    default: 200 * GIBIBYTE,
    minimum: 1,
    description: 'The same of all deployments of a workspace.',
  }),
  STORAGE_MAX_BYTES: Type.Optional(
    Type.Integer({ minimum: 1, description: 'The same of all workspaces. Default: as much as there is room for.' }),
  ),
  DISK_MIN_FREE_BYTES: Type.Integer({
    default: GIBIBYTE,
    minimum: 0,
    description: 'Free bytes of the disk with DATA_DIR that uploads and builds leave to everything else.',
  }),
};

const schema = Type.Object({ ...storageQuotaVariables, DATA_DIR: Type.String() });

/** The bytes of images, which the registry knows. */
export interface StoredImages {
  count(question: StoredBytesRequest): Promise<StoredBytes>;
}

/** Limits what deployments store: their sources and builds here, together with their images in the registry. */
export class StorageQuota {
  readonly #pool: pg.Pool;
  readonly #config: Static<typeof schema>;
  readonly #images: StoredImages;

  constructor(options: { pool: pg.Pool; config: Static<typeof schema>; images: StoredImages }) {
    this.#pool = options.pool;
    this.#config = options.config;
    this.#images = options.images;
  }

  /** @throws InsufficientStorageError when there is no room for this many bytes; UnavailableError */
  async check(deploymentId: string, bytes: number): Promise<void> {
    const room = await this.findRoom(deploymentId);
    if (bytes > room.bytes) throw room.refusal;
  }

  /** Returns what sources and builds of a deployment and its workspace take, and the limits. */
  async limitsOf(deploymentId: string, workspaceId: string): Promise<StorageLimits> {
    const {
      STORAGE_MAX_BYTES_PER_DEPLOYMENT: deployment,
      STORAGE_MAX_BYTES_PER_WORKSPACE: workspace,
      STORAGE_MAX_BYTES: platform = null,
    } = this.#config;
    const { rows } = await this.#pool.query<{ deployment: string; workspace: string; platform: string }>(
      `SELECT coalesce(sum(bytes) FILTER (WHERE deployment.id = $1), 0) AS deployment,
              coalesce(sum(bytes) FILTER (WHERE workspace_id = $2), 0) AS workspace,
              coalesce(sum(bytes) FILTER (WHERE $3), 0) AS platform
       FROM (SELECT deployment_id, bytes FROM source_upload UNION ALL SELECT deployment_id, bytes FROM build_archive) AS stored
       JOIN deployment ON deployment.id = stored.deployment_id
       WHERE workspace_id = $2 OR $3`,
      [deploymentId, workspaceId, platform !== null],
    );
    const sums = rows[0]!;
    return {
      sources: {
        deployment: Number(sums.deployment),
        workspace: Number(sums.workspace),
        platform: Number(sums.platform),
      },
      max: { deployment, workspace, platform },
    };
  }

  /** Returns the smallest room that the limits leave. @throws UnavailableError */
  async findRoom(deploymentId: string): Promise<Room> {
    const { DATA_DIR: folder, DISK_MIN_FREE_BYTES: minFreeBytes } = this.#config;
    const { rows } = await this.#pool.query<{ workspace_id: string }>(
      'SELECT workspace_id FROM deployment WHERE id = $1',
      [deploymentId],
    );
    const workspaceId = rows[0]?.workspace_id;
    if (workspaceId === undefined) return findRoom(null, { folder, minFreeBytes });
    const { sources, max } = await this.limitsOf(deploymentId, workspaceId);
    const question = { deployment_id: deploymentId, workspace_id: workspaceId };
    const images = await this.#images.count({ ...question, is_for_platform: max.platform !== null });
    return findRoom({ stored: addSums(sources, images), max }, { folder, minFreeBytes });
  }
}
