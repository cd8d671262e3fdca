import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { takeExclusiveFile } from './exclusive-file.ts';

/** Returns the user's folder for what is fetched or made once for all platforms of this machine. */
export function cacheFolder(environment: NodeJS.ProcessEnv): string {
  return join(environment.XDG_CACHE_HOME || join(environment.HOME || homedir(), '.cache'), 'runyard');
}

/** Returns the path of an entry in it, another one for each `identity` (say, the text of a pom). */
export function cachePath(name: string, identity: string, environment: NodeJS.ProcessEnv): string {
  return join(cacheFolder(environment), `${name}-${createHash('sha256').update(identity).digest('hex').slice(0, 12)}`);
}

/**
 * Returns a folder below the user's cache that `fill` fills once for each `identity`. It appears complete or not at all,
 * and two processes that need it at once fill it once.
 */
export async function ensureCachedFolder(
  name: string,
  identity: string,
  environment: NodeJS.ProcessEnv,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const cache = cacheFolder(environment);
  const folder = cachePath(name, identity, environment);
  if (await exists(folder)) return folder;
  await mkdir(cache, { recursive: true });
  // One lock covers all folders: they are filled by the same tool, whose own cache two at once may spoil.
  const lock = await acquireLock(join(cache, 'fill.lock'));
  try {
    if (await exists(folder)) return folder;
    const unfinished = await mkdtemp(`${folder}.`);
    try {
      await fill(unfinished);
      await rename(unfinished, folder);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
    return folder;
  } finally {
    await lock.release();
  }
}

async function acquireLock(path: string): Promise<{ release(): Promise<void> }> {
  for (;;) {
    const lock = await takeExclusiveFile(path);
    if ('release' in lock) return lock;
    await pause(200);
  }
}

/** Returns whether there is a file or folder. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
