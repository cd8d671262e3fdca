import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { PROJECT_FILES_MAX, PROJECT_FOLDER, PROJECT_LEVELS_MAX, writeTar } from '@runyard/deployments';
import { type ReadEntry, Unpack } from 'tar';

const at = `${PROJECT_FOLDER.slice(1)}/`;
const AT_LEVELS = at.split('/').length - 1;

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
  const links = new Set<string>();
  const leadsThroughLink = (name: string) => {
    if (links.size === 0) return false;
    for (let end = name.indexOf('/'); end !== -1; end = name.indexOf('/', end + 1))
      if (links.has(name.slice(0, end))) return true;
    return links.has(name);
  };
  let files = 0;
  let isRefused = false;
  const unpack = new Unpack({
    cwd: folder,
    strip: AT_LEVELS,
    preserveOwner: false,
    // Otherwise links to absolute paths are refused. The paths of entries are checked here.
    preservePaths: true,
    strict: true,
    filter: (path, entry) => {
      const { type } = entry as ReadEntry;
      const name = path.replace(/\/$/, '');
      const parts = name.split('/');
      const isOurs = at.startsWith(path) || path.startsWith(at);
      files += path.startsWith(at) && path !== at ? 1 : 0;
      isRefused ||= files > filesMax || !isOurs || parts.some((part) => ['', '.', '..'].includes(part));
      isRefused ||= parts.length - AT_LEVELS > PROJECT_LEVELS_MAX || type === 'Link' || leadsThroughLink(name);
      if (type === 'SymbolicLink') links.add(name);
      return !isRefused;
    },
  });
  await pipeline(archive, createGunzip(), (bytes) => writeTar(unpack, bytes, signal), { signal });
  if (isRefused) throw new Error('the archive has an entry that the platform makes none of');
}
