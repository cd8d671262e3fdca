import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isAlive, type ProcessIdentity, readProcessIdentity } from './process-identity.ts';

/**
 * Takes a lock by creating a file that names this process. A file left by an ended process does not count. Returns the
 * holder instead when another living process has it.
 */
export async function takeExclusiveFile(
  path: string,
): Promise<{ release(): Promise<void> } | { holder: ProcessIdentity }> {
  await mkdir(dirname(path), { recursive: true });
  const self = await readProcessIdentity(process.pid);
  for (;;) {
    try {
      const file = await open(path, 'wx', 0o600);
      await file.writeFile(JSON.stringify(self));
      await file.close();
      return { release: () => rm(path, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = await findHolder(path);
    if (holder) return { holder };
    await rm(path, { force: true });
  }
}

/** Returns the living process that has the lock, or null. */
export async function findHolder(path: string): Promise<ProcessIdentity | null> {
  const holder = await readHolder(path);
  return holder && (await isAlive(holder)) ? holder : null;
}

async function readHolder(path: string): Promise<ProcessIdentity | null> {
  const text = await readFile(path, 'utf8').catch(() => '');
  try {
    return JSON.parse(text) as ProcessIdentity;
  } catch {
    return null;
  }
}
