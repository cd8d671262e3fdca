import { randomUUID } from 'node:crypto';
import { access, copyFile, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { Readable } from 'node:stream';
import type { ObjectStorage } from './object-storage.ts';

/** The folder for files that are not objects yet, in the same file system. No other name begins with a dot. */
export const INCOMING = '.incoming';

/** Stores objects as files of a folder, which several machines may share. */
export class FolderStorage implements ObjectStorage {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(path: string, file: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const place = this.#placeOf(path);
    const aside = join(this.#folder, INCOMING, randomUUID());
    for (const folder of [dirname(place), dirname(aside)]) await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      // A copy would take the bytes a second time, of a disk that may have no room for them.
      await rename(file, aside).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EXDEV') throw error;
        return copyFile(file, aside);
      });
      const copy = await open(aside, 'r+');
      await copy.sync().finally(() => copy.close());
      await rename(aside, place);
    } finally {
      await rm(aside, { force: true });
    }
  }

  async open(path: string, signal?: AbortSignal): Promise<Readable | null> {
    signal?.throwIfAborted();
    try {
      return (await open(this.#placeOf(path), 'r')).createReadStream();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  async exists(path: string, signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted();
    try {
      await access(this.#placeOf(path));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  }

  async remove(path: string): Promise<void> {
    await rm(this.#placeOf(path), { force: true });
  }

  async removeBelow(prefix: string): Promise<void> {
    await rm(this.#placeOf(prefix), { recursive: true, force: true });
  }

  /** Does nothing, as no connection is open. */
  close(): void {}

  #placeOf(path: string): string {
    const place = join(this.#folder, path);
    if (!place.startsWith(this.#folder + sep)) throw new Error(`${path} is no path of an object`);
    return place;
  }
}
