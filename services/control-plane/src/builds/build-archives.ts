import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { ObjectStorage } from '@runyard/object-storage';
import { v7 as uuidv7 } from 'uuid';
import { projectLayer } from '../project-images/project-layer.ts';
import { objectsPrefix } from '../revisions/deployment-objects.ts';
import type { BuildName } from './artifacts.ts';

/** Stores built projects as archives, which data planes on other machines fetch. They go with their deployment. */
export class BuildArchives {
  readonly #objects: Pick<ObjectStorage, 'put' | 'open' | 'remove'>;
  readonly #temporaryFolder: string;

  constructor(options: { objects: Pick<ObjectStorage, 'put' | 'open' | 'remove'>; temporaryFolder: string }) {
    this.#objects = options.objects;
    this.#temporaryFolder = options.temporaryFolder;
  }

  /**
   * Stores the folder of a build.
   *
   * @param say gets a sentence about each entry that the archive lacks or changes
   * @throws BuildError when a file cannot be read; ObjectStorageUnavailableError
   */
  async store(
    name: BuildName,
    directory: string,
    { say, signal }: { say: (line: string) => void; signal: AbortSignal },
  ): Promise<void> {
    await mkdir(this.#temporaryFolder, { recursive: true, mode: 0o700 });
    const file = join(this.#temporaryFolder, uuidv7());
    try {
      // The archive mostly crosses a fast network once: little is gained by packing it tighter.
      const gzip = createGzip({ level: constants.Z_BEST_SPEED });
      await pipeline(projectLayer(directory, say), gzip, createWriteStream(file, { mode: 0o600 }), { signal });
      await this.#objects.put(pathOf(name), file, signal);
    } finally {
      await rm(file, { force: true });
    }
  }

  /** Returns null when there is none. */
  open(name: BuildName, signal: AbortSignal): Promise<Readable | null> {
    return this.#objects.open(pathOf(name), signal);
  }

  remove(name: BuildName): Promise<void> {
    return this.#objects.remove(pathOf(name));
  }
}

const pathOf = ({ deploymentId, key }: BuildName) => `${objectsPrefix(deploymentId)}builds/${key}.tar.gz`;
