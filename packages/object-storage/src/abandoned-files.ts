import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface AbandonedFilesOptions {
  /** Folders of temporary files: each entry belongs to one request or build, which removes it at its end. */
  folders: string[];
}

/** Longer than any temporary file is in use: uploads, pushes and builds take a day at most. */
const ABANDONED_MS = 25 * 60 * 60 * 1000;

/** Removes temporary files that killed processes left. Any number of processes may do so at once. */
export class AbandonedFiles {
  readonly #options: AbandonedFilesOptions;

  constructor(options: AbandonedFilesOptions) {
    this.#options = options;
  }

  async sweep(now = Date.now()): Promise<void> {
    for (const folder of this.#options.folders) {
      for (const name of (await ignoreMissing(readdir(folder))) ?? []) {
        const path = join(folder, name);
        const stats = await ignoreMissing(stat(path));
        if (stats && now - stats.mtimeMs > ABANDONED_MS) await rm(path, { recursive: true, force: true });
      }
    }
  }
}

async function ignoreMissing<Result>(reading: Promise<Result>): Promise<Result | null> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
