import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Digests of files by path, relative to a folder; null for a path without a file. */
export type FileDigests = Record<string, string | null>;

/** @param paths relative to the folder */
export async function digestFiles(directory: string, paths: readonly string[]): Promise<FileDigests> {
  const sorted = [...new Set(paths)].sort();
  return Object.fromEntries(
    await Promise.all(sorted.map(async (path) => [path, await digestFile(join(directory, path))] as const)),
  );
}

/** Returns whether every file is as it was, and none has been added. */
export async function areUnchanged(directory: string, digests: FileDigests): Promise<boolean> {
  const now = await digestFiles(directory, Object.keys(digests));
  return Object.entries(digests).every(([path, digest]) => now[path] === digest);
}

async function digestFile(path: string): Promise<string | null> {
  try {
    return createHash('sha256')
      .update(await readFile(path))
      .digest('base64url');
  } catch {
    return null;
  }
}
