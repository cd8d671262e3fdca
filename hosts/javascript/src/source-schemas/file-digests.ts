import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Digests of files by path, relative to a folder; null for a path where nothing is. */
export type FileDigests = Record<string, string | null>;

/** Stands for the digest of a folder: what is looked for in it has digests of its own. */
const FOLDER = 'folder';
/** Stands for the digest of a file that was seen in two states, or could not be read: no file is as it was then. */
const CHANGED = 'changed';

/** Returns the digest of a file as it is now. */
export function digestFile(path: string): string | null {
  try {
    return digestOf(readFileSync(path));
  } catch (error) {
    return digestOfUnreadable(error as NodeJS.ErrnoException);
  }
}

/** Returns the digests of files that were looked at twice, by different threads. */
export function mergeDigests(some: FileDigests, others: FileDigests): FileDigests {
  const merged = { ...some, ...others };
  for (const path of Object.keys(some)) if (merged[path] !== some[path]) merged[path] = CHANGED;
  return merged;
}

/** Returns whether every file is as it was, and none has been added. */
export async function areUnchanged(directory: string, digests: FileDigests): Promise<boolean> {
  const comparisons = Object.entries(digests).map(async ([path, digest]) => {
    const now = await readFile(join(directory, path)).then(digestOf, digestOfUnreadable);
    return now === digest && now !== CHANGED;
  });
  return (await Promise.all(comparisons)).every((isUnchanged) => isUnchanged);
}

function digestOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('base64url');
}

function digestOfUnreadable({ code }: NodeJS.ErrnoException): string | null {
  if (code === 'EISDIR') return FOLDER;
  return code === 'ENOENT' || code === 'ENOTDIR' ? null : CHANGED;
}
