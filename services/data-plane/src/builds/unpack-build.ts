import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { PROJECT_FILES_MAX, PROJECT_FOLDER, writeTar } from '@runyard/deployments';
import { type ReadEntry, Unpack } from 'tar';

/**
 * Unpacks the archive of a build into an empty folder. Links lead where they led before, and nothing is written through
 * one or outside of the folder.
 *
 * @throws Error when the archive is not whole, or none that the platform makes: it makes none of more than `filesMax`
 */
export async function unpackBuild(
  archive: Readable,
  folder: string,
  signal: AbortSignal,
  { filesMax = PROJECT_FILES_MAX }: { filesMax?: number } = {},
): Promise<void> {
  const at = `${PROJECT_FOLDER.slice(1)}/`;
  const links = new Set<string>();
  let files = 0;
  let isRefused = false;
  const unpack = new Unpack({
    cwd: folder,
    strip: at.split('/').length - 1,
    preserveOwner: false,
    // Otherwise links to absolute paths are refused. The paths of entries are checked here.
    preservePaths: true,
    strict: true,
    filter: (path, entry) => {
      const { type } = entry as ReadEntry;
      const parts = path.replace(/\/$/, '').split('/');
      const parents = parts.map((_, index) => parts.slice(0, index).join('/'));
      const isOurs = at.startsWith(path) || path.startsWith(at);
      files += path.startsWith(at) && path !== at ? 1 : 0;
      isRefused ||= files > filesMax || !isOurs || parts.some((part) => ['', '.', '..'].includes(part));
      isRefused ||= type === 'Link' || [...parents, parts.join('/')].some((each) => links.has(each));
      if (type === 'SymbolicLink') links.add(parts.join('/'));
      return !isRefused;
    },
  });
  await pipeline(archive, createGunzip(), (bytes) => writeTar(unpack, bytes, signal), { signal });
  if (isRefused) throw new Error('the archive has an entry that the platform makes none of');
}
