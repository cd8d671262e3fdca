import { mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { withDeadline } from '@runyard/deadline';
import type { BuildName } from '@runyard/deployments';
import type { DiskReserve, ObjectStorage } from '@runyard/object-storage';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { objectsPrefix } from '../revisions/deployment-objects.ts';
import { receiveArchive } from '../storage-quota/receive-archive.ts';
import type { StorageQuota } from '../storage-quota/storage-quota.ts';

export interface BuildArchivesOptions {
  objects: Pick<ObjectStorage, 'put' | 'open' | 'exists' | 'remove' | 'removeBelow'>;
  pool: Pick<pg.Pool, 'query'>;
  quota: Pick<StorageQuota, 'findRoom'>;
  temporaryFolder: string;
  /** The disk with `temporaryFolder`, of which archives that arrive together leave the reserve. */
  disk: DiskReserve;
  /** Bytes of one archive. */
  limitBytes: number;
  /** Milliseconds in which one has to arrive and be stored. */
  timeoutMs: number;
}

/**
 * Stores built projects as archives, which data planes on other machines fetch. They go with their deployment. Each has a
 * row from before it is stored until after it is removed, by which it counts in the storage limits.
 */
export class BuildArchives {
  readonly #options: BuildArchivesOptions;

  constructor(options: BuildArchivesOptions) {
    this.#options = options;
  }

  /**
   * Receives the archive of a build, whole or not at all, and no more of it than the storage limits leave.
   *
   * @param isWanted is asked when it has arrived: it replaces the archive of another attempt
   * @returns false when it was not wanted
   * @throws PayloadTooLargeError, InsufficientStorageError, ClientDisconnectedError, ObjectStorageUnavailableError;
   * RegistryUnavailableError while it is not known what images take
   */
  async receive(name: BuildName, req: IncomingMessage, isWanted: () => Promise<boolean>): Promise<boolean> {
    const { objects, quota, temporaryFolder, disk, timeoutMs, limitBytes: maxBytes } = this.#options;
    await mkdir(temporaryFolder, { recursive: true, mode: 0o700 });
    const file = join(temporaryFolder, uuidv7());
    try {
      return await withDeadline(undefined, timeoutMs, async (signal) => {
        const received = { deploymentId: name.deploymentId, file, maxBytes };
        const bytes = await receiveArchive(req, received, { quota, disk, signal });
        if (!(await isWanted())) return false;
        await this.#record(name, bytes);
        await objects.put(pathOf(name), file, signal);
        return true;
      });
    } finally {
      await rm(file, { force: true });
    }
  }

  has(name: BuildName, signal: AbortSignal): Promise<boolean> {
    return this.#options.objects.exists(pathOf(name), signal);
  }

  /** Returns null when there is none. */
  open(name: BuildName, signal: AbortSignal): Promise<Readable | null> {
    return this.#options.objects.open(pathOf(name), signal);
  }

  /** Removes those of a deployment that is gone. */
  removeAll(deploymentId: string): Promise<void> {
    return this.#options.objects.removeBelow(`${objectsPrefix(deploymentId)}builds/`);
  }

  async remove(name: BuildName): Promise<void> {
    const { objects, pool } = this.#options;
    await objects.remove(pathOf(name));
    await pool.query('DELETE FROM build_archive WHERE deployment_id = $1 AND key = $2', [name.deploymentId, name.key]);
  }

  async #record({ deploymentId, key }: BuildName, bytes: number): Promise<void> {
    await this.#options.pool.query(
      `INSERT INTO build_archive (deployment_id, key, bytes) VALUES ($1, $2, $3)
       ON CONFLICT (deployment_id, key) DO UPDATE SET bytes = excluded.bytes`,
      [deploymentId, key, bytes],
    );
  }
}

const pathOf = ({ deploymentId, key }: BuildName) => `${objectsPrefix(deploymentId)}builds/${key}.tar.gz`;
