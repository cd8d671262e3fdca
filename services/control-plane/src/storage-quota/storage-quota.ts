import { statfs } from 'node:fs/promises';
import { InsufficientStorageError } from '@runyard/service-kit';
import type pg from 'pg';
import Type, { type Static } from 'typebox';

const GIBIBYTE = 1024 ** 3;

export const storageQuotaVariables = {
  STORAGE_MAX_BYTES_PER_DEPLOYMENT: Type.Integer({
    default: 50 * GIBIBYTE,
    minimum: 1,
    description: 'Bytes of uploaded sources and pushed images of one deployment.',
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
    description: 'Free bytes of the disk with DATA_DIR that uploads, pushes and builds leave to everything else.',
  }),
};

const schema = Type.Object({ ...storageQuotaVariables, DATA_DIR: Type.String() });

/** The number of bytes that may still be stored, and the error for more. */
export interface Room {
  /** May be negative. */
  bytes: number;
  refusal: InsufficientStorageError;
}

const STORED = `
  SELECT deployment_id, bytes FROM source_upload WHERE bytes IS NOT NULL
  UNION ALL SELECT deployment_id, size FROM registry_blob
    -- Layers of base images are there once for all.
    WHERE NOT EXISTS (SELECT 1 FROM base_layer
                      WHERE base_layer.digest = registry_blob.digest AND base_layer.parts = registry_blob.parts)
  UNION ALL SELECT deployment_id, octet_length(content) FROM registry_manifest
  UNION ALL SELECT deployment_id, size FROM registry_upload`;

/**
 * Limits what deployments store in the object storage: uploaded sources and pushed images. Concurrent uploads do not
 * count each other, so they may exceed a limit together.
 */
export class StorageQuota {
  readonly #pool: pg.Pool;
  readonly #config: Static<typeof schema>;

  constructor(options: { pool: pg.Pool; config: Static<typeof schema> }) {
    this.#pool = options.pool;
    this.#config = options.config;
  }

  /** @throws InsufficientStorageError when there is no room for this many bytes */
  async check(deploymentId: string, bytes: number): Promise<void> {
    const room = await this.room(deploymentId);
    if (bytes > room.bytes) throw room.refusal;
  }

  /** Returns the smallest room that the limits leave. */
  async room(deploymentId: string): Promise<Room> {
    const rooms = await Promise.all([this.#roomOfOwners(deploymentId), this.#roomOfAll(), this.#roomOnDisk()]);
    return rooms.flat().reduce((narrowest, room) => (room.bytes < narrowest.bytes ? room : narrowest));
  }

  async #roomOfOwners(deploymentId: string): Promise<Room[]> {
    const { rows } = await this.#pool.query<{ ofDeployment: string; ofWorkspace: string }>(
      `SELECT coalesce(sum(bytes) FILTER (WHERE deployment.id = $1), 0) AS "ofDeployment",
              coalesce(sum(bytes), 0) AS "ofWorkspace"
       FROM (${STORED}) AS stored JOIN deployment ON deployment.id = stored.deployment_id
       WHERE deployment.workspace_id = (SELECT workspace_id FROM deployment WHERE id = $1)`,
      [deploymentId],
    );
    const { ofDeployment, ofWorkspace } = rows[0]!;
    const { STORAGE_MAX_BYTES_PER_DEPLOYMENT: perDeployment, STORAGE_MAX_BYTES_PER_WORKSPACE: perWorkspace } =
      this.#config;
    return [
      roomBelow(perDeployment, Number(ofDeployment), 'sources and images of this deployment'),
      roomBelow(perWorkspace, Number(ofWorkspace), 'sources and images of this workspace'),
    ];
  }

  async #roomOfAll(): Promise<Room[]> {
    const { STORAGE_MAX_BYTES: max } = this.#config;
    if (max === undefined) return [];
    const { rows } = await this.#pool.query<{ bytes: string }>(
      `SELECT coalesce(sum(bytes), 0) AS bytes FROM (${STORED}) AS stored`,
    );
    // The message does not tell how much others store.
    return [{ bytes: max - Number(rows[0]!.bytes), refusal: diskFull() }];
  }

  async #roomOnDisk(): Promise<Room> {
    const { DATA_DIR: dataDir, DISK_MIN_FREE_BYTES: min } = this.#config;
    return { bytes: (await freeBytes(dataDir)) - min, refusal: diskFull() };
  }
}

/** Returns the free bytes of the folder's disk that this service may use. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function roomBelow(max: number, stored: number, what: string): Room {
  const message = `There is no room for it: ${what} take ${stored} bytes, of ${max} that they may.`;
  return { bytes: max - stored, refusal: new InsufficientStorageError(message, { code: 'storage_quota_exceeded' }) };
}

function diskFull(): InsufficientStorageError {
  return new InsufficientStorageError('There is no room for it: the storage of the platform is full.', {
    code: 'platform_storage_full',
  });
}
