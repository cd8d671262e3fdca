import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { withDeadline } from '@runyard/deadline';
import type { BuildName } from '@runyard/deployments';
import { BuildError, projectLayer } from '@runyard/deployments';
import type { ObjectStorage } from '@runyard/object-storage';
import { v7 as uuidv7 } from 'uuid';
import { objectsPrefix } from '../revisions/deployment-objects.ts';
import { withFreeDisk } from './free-disk.ts';

export interface BuildArchivesOptions {
  objects: Pick<ObjectStorage, 'put' | 'open' | 'exists' | 'remove' | 'removeBelow'>;
  temporaryFolder: string;
  /** Bytes of one project, unpacked. */
  limitBytes: number;
  /** Limits the packing of one. */
  timeoutMs: number;
  /** Free bytes of the disk with the folder below which none is packed. */
  minFreeBytes: number;
}

/** Stores built projects as archives, which data planes on other machines fetch. They go with their deployment. */
export class BuildArchives {
  readonly #options: BuildArchivesOptions;

  constructor(options: BuildArchivesOptions) {
    this.#options = options;
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
    const { objects, temporaryFolder, limitBytes, timeoutMs, minFreeBytes } = this.#options;
    await mkdir(temporaryFolder, { recursive: true, mode: 0o700 });
    const file = join(temporaryFolder, uuidv7());
    try {
      await withDeadline(signal, timeoutMs, (limited) =>
        withFreeDisk(limited, { folder: temporaryFolder, minFreeBytes }, async (ended) => {
          // The archive mostly crosses a fast network once: little is gained by packing it tighter.
          const gzip = createGzip({ level: constants.Z_BEST_SPEED });
          const bytes = upTo(projectLayer(directory, say), limitBytes);
          await pipeline(bytes, gzip, createWriteStream(file, { mode: 0o600 }), { signal: ended });
          await objects.put(pathOf(name), file, ended);
        }),
      );
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

/** @throws BuildError for more bytes */
async function* upTo(chunks: AsyncIterable<Buffer>, limitBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > limitBytes) throw new BuildError(`The built project is larger than ${limitBytes} bytes`);
    yield chunk;
  }
}
