import type { Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * `reach` requires only the folders above the path. `pass` also requires a way through the folder. `read` requires
 * reading a file, or the list of a folder.
 */
type Access = 'reach' | 'pass' | 'read';

const PASS = 0o001;
const READ = 0o004;

/**
 * Returns the first of the paths, or of the folders above them, that other users may not pass or read; null when there
 * is none.
 */
export async function findInaccessible(paths: string[], access: Access): Promise<string | null> {
  for (const path of paths) {
    // Both ways count: through the link and through its target.
    const real = await realpath(path).catch(() => path);
    for (const way of new Set([path, real])) {
      const closed = (await findInaccessibleAbove(way)) ?? ((await isInaccessible(way, access)) ? way : null);
      if (closed !== null) return closed;
    }
  }
  return null;
}

/**
 * Returns the first file or folder in a folder that other users may not read. It skips names that begin with a dot,
 * links and installed packages.
 */
export async function findInaccessibleBelow(folder: string, options: { except: string[] }): Promise<string | null> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(() => []))
    .filter((entry) => !entry.name.startsWith('.') && (entry.isFile() || entry.isDirectory()))
    .map((entry) => ({
      path: join(folder, entry.name),
      goesDown: entry.isDirectory() && entry.name !== 'node_modules',
    }))
    .filter(({ path }) => !options.except.includes(path));
  const closed = await Promise.all(entries.map(({ path }) => isInaccessible(path, 'read')));
  const index = closed.indexOf(true);
  if (index !== -1) return entries[index]?.path ?? null;
  for (const { path, goesDown } of entries) {
    const found = goesDown ? await findInaccessibleBelow(path, options) : null;
    if (found !== null) return found;
  }
  return null;
}

async function findInaccessibleAbove(path: string): Promise<string | null> {
  const closed = [];
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (await isInaccessible(folder, 'pass')) closed.unshift(folder);
    if (folder === dirname(folder)) return closed[0] ?? null;
  }
}

/** Returns whether a path is closed; a missing one is not. */
async function isInaccessible(path: string, access: Access): Promise<boolean> {
  if (access === 'reach') return false;
  const found: Stats | null = await stat(path).catch(() => null);
  if (!found) return false;
  const needed = access === 'pass' ? PASS : found.isDirectory() ? PASS | READ : READ;
  return (found.mode & needed) !== needed;
}
