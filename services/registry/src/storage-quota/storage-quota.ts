import type { StoredBytes } from '@runyard/contracts';
import { addSums, type DiskReserve, findRoom, type Room } from '@runyard/object-storage';
import type pg from 'pg';
import Type from 'typebox';
import type { ImageOwner } from '../stored-images/image-owner.ts';

export const storageQuotaVariables = {
  DISK_MIN_FREE_BYTES: Type.Integer({
    default: 1024 ** 3,
    minimum: 0,
    description: 'Free bytes of the disk with DATA_DIR that pushes leave to everything else.',
  }),
};

/** Bytes by deployment. Layers of base images are there once for all, and count for nobody. */
const STORED = `
  SELECT deployment_id, size AS bytes FROM registry_blob WHERE NOT is_shared
  UNION ALL SELECT deployment_id, octet_length(content) FROM registry_manifest
  UNION ALL SELECT deployment_id, size + incoming FROM registry_upload`;

/** Limits what is stored for deployments, together with the sources that control-plane stores for them. */
export class StorageQuota {
  readonly #pool: pg.Pool;
  readonly #disk: DiskReserve;

  constructor(options: { pool: pg.Pool; disk: DiskReserve }) {
    this.#pool = options.pool;
    this.#disk = options.disk;
  }

  /** Returns the smallest room that the limits leave. */
  async room({ deploymentId, workspaceId, storage }: ImageOwner): Promise<Room> {
    if (storage === null || workspaceId === null) return findRoom(null, this.#disk);
    const { sources, max } = storage;
    const images = await this.count({ deploymentId, workspaceId, isForPlatform: max.platform !== null });
    return findRoom({ stored: addSums(sources, images), max }, this.#disk);
  }

  /** @param owner.isForPlatform whether all of the platform is counted too; otherwise its number is 0 */
  async count(owner: { deploymentId: string; workspaceId: string; isForPlatform: boolean }): Promise<StoredBytes> {
    const { rows } = await this.#pool.query<{ deployment: string; workspace: string; platform: string }>(
      `SELECT coalesce(sum(bytes) FILTER (WHERE deployment_id = $1), 0) AS deployment,
              coalesce(sum(bytes) FILTER (WHERE workspace_id = $2), 0) AS workspace,
              coalesce(sum(bytes) FILTER (WHERE $3), 0) AS platform
       FROM (${STORED}) AS stored JOIN deployment ON deployment.id = stored.deployment_id
       WHERE deployment.workspace_id = $2 OR ($3 AND deployment.workspace_id IS NOT NULL)`,
      [owner.deploymentId, owner.workspaceId, owner.isForPlatform],
    );
    const { deployment, workspace, platform } = rows[0]!;
    return { deployment: Number(deployment), workspace: Number(workspace), platform: Number(platform) };
  }
}
