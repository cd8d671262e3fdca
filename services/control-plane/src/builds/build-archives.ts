import { mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { withDeadline } from '@runyard/deadline';
import type { BuildName } from '@runyard/deployments';
import { findRoom, type ObjectStorage } from '@runyard/object-storage';
import { PayloadTooLargeError, receiveFile } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { objectsPrefix } from '../revisions/deployment-objects.ts';

export interface BuildArchivesOptions {
  objects: Pick<ObjectStorage, 'put' | 'open' | 'exists' | 'remove' | 'removeBelow'>;
  temporaryFolder: string;
  /** Bytes of one archive. */
  limitBytes: number;
  /** Milliseconds in which one has to arrive and be stored. */
  timeoutMs: number;
  /** Free bytes of the disk with the folder that archives leave to everything else. */
  minFreeBytes: number;
}

/** Stores built projects as archives, which data planes on other machines fetch. They go with their deployment. */
export class BuildArchives {
  readonly #options: BuildArchivesOptions;

  constructor(options: BuildArchivesOptions) {
    this.#options = options;
  }

  /**
   * Receives the archive of a build, whole or not at all.
   *
   * @param isWanted is asked when it has arrived: it replaces the archive of another attempt
   * @returns false when it was not wanted
   * @throws PayloadTooLargeError, InsufficientStorageError, ClientDisconnectedError, ObjectStorageUnavailableError
   */
  async receive(name: BuildName, req: IncomingMessage, isWanted: () => Promise<boolean>): Promise<boolean> {
    const { objects, temporaryFolder, timeoutMs, minFreeBytes, limitBytes } = this.#options;
    await mkdir(temporaryFolder, { recursive: true, mode: 0o700 });
    const { bytes: room, refusal } = await findRoom(null, { folder: temporaryFolder, minFreeBytes });
    if (room <= 0) throw refusal;
    const file = join(temporaryFolder, uuidv7());
    try {
      return await withDeadline(undefined, timeoutMs, async (limited) => {
        await receiveFile(req, file, { maxBytes: Math.min(limitBytes, room), signal: limited }).catch((error) => {
          throw room < limitBytes && error instanceof PayloadTooLargeError ? refusal : error;
        });
        if (!(await isWanted())) return false;
        await objects.put(pathOf(name), file, limited);
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

  remove(name: BuildName): Promise<void> {
    return this.#options.objects.remove(pathOf(name));
  }
}

const pathOf = ({ deploymentId, key }: BuildName) => `${objectsPrefix(deploymentId)}builds/${key}.tar.gz`;
