import { readdirSync } from 'node:fs';
import { posix } from 'node:path';

/** Folders of packages. */
export const PARENTS = ['services', 'hosts', 'packages', 'infra'];
/** Folders that are one package each. */
export const ALONE = ['e2e', 'bench'];
/** Names of folders without files written by hand; names with a dot are of tests that run meanwhile. */
const NOT_WRITTEN_BY_HAND = /^(node_modules|dist|generated|results|\..*)$/;

/** Returns every source file, from the repository's root; generated files and tests' fixtures are left out. */
export function sourceFiles(repository: string): string[] {
  return [...PARENTS, ...ALONE]
    .flatMap((folder) => filesBelow(repository, folder))
    .filter((path) => /\.m?tsx?$/.test(path) && !path.includes('/fixtures/'));
}

/**
 * Returns the files below a folder that somebody has written, from the repository's root. It walks itself: a recursive
 * `readdirSync` follows the links in `node_modules`, which lead in circles.
 */
export function filesBelow(repository: string, folder: string): string[] {
  return readdirSync(posix.join(repository, folder), { withFileTypes: true }).flatMap((entry) => {
    if (NOT_WRITTEN_BY_HAND.test(entry.name)) return [];
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(repository, path) : entry.isFile() ? [path] : [];
  });
}
