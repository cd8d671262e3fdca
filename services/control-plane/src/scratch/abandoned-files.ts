import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@runyard/service-kit';
import { HourlySweep } from '../duties/hourly-sweep.ts';
import { unlessGone } from '../files/unless-gone.ts';
import { INCOMING } from '../object-storage/folder-storage.ts';

export interface AbandonedFilesOptions {
  /** Folders of what is on its way: each entry belongs to one request or build, which removes it at its end. */
  folders: string[];
  logger: Logger;
}

/** Where what is on its way is kept: archives, layers, repositories, logins of the engine, objects. Not all need be there. */
export function scratchFolders(dataDir: string): string[] {
  return ['uploads', 'registry', 'git', 'logins', join('objects', INCOMING)].map((name) => join(dataDir, name));
}

/** Nothing is on its way for so long: uploads, pushes and builds have a day at most. */
const ABANDONED_MS = 25 * 60 * 60 * 1000;

/** Removes what processes that were killed had on its way: nobody else knows of it. Any number of processes may. */
export class AbandonedFiles extends HourlySweep {
  readonly #options: AbandonedFilesOptions;

  constructor(options: AbandonedFilesOptions) {
    super('files that nobody needs any more could not be removed', options.logger);
    this.#options = options;
  }

  async sweep(now = Date.now()): Promise<void> {
    for (const folder of this.#options.folders) {
      for (const name of (await unlessGone(readdir(folder))) ?? []) {
        const path = join(folder, name);
        const stats = await unlessGone(stat(path));
        if (stats && now - stats.mtimeMs > ABANDONED_MS) await rm(path, { recursive: true, force: true });
      }
    }
  }
}
