import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { releaseLeasesOf } from '@runyard/leases';
import { type Logger, processStart } from '@runyard/service-kit';
import type pg from 'pg';

/**
 * Identifies a lease owner's process in its owner file. All control-planes of a machine share the folder of these
 * files.
 */
interface OwnerFile {
  pid: number;
  startedAt: string;
  host: string;
}

export interface LeaseOwner {
  /** Identifies this process as a lease owner (uuid). */
  id: string;
  /** Removes the owner file. Called after the leases are released. */
  forget(): Promise<void>;
}

/**
 * Registers a new lease owner and releases the leases of processes that were killed on this machine. Otherwise a lease
 * ends only with its time; here the system says at once that a process is dead. The leases of processes that cannot be
 * checked still lapse: those of other machines, or of systems without `/proc`.
 */
export async function registerLeaseOwner(options: {
  dataDir: string;
  pool: pg.Pool;
  logger: Logger;
}): Promise<LeaseOwner> {
  const folder = join(options.dataDir, 'holders');
  await mkdir(folder, { recursive: true });
  await releaseLeasesOfTheDead(folder, options).catch((error: unknown) => {
    options.logger.warn('leases of processes that were killed are left to lapse', { error });
  });
  const id = randomUUID();
  const file = join(folder, `${id}.json`);
  const startedAt = await processStart(process.pid);
  if (startedAt !== null) {
    const content: OwnerFile = { pid: process.pid, startedAt, host: hostname() };
    await writeFile(file, JSON.stringify(content));
  }
  return { id, forget: () => rm(file, { force: true }) };
}

async function releaseLeasesOfTheDead(
  folder: string,
  { pool, logger }: { pool: pg.Pool; logger: Logger },
): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  const dead: string[] = [];
  for (const name of names) if (await isOfTheDead(join(folder, name))) dead.push(name);
  if (dead.length === 0) return;
  const ids = dead.map((name) => name.slice(0, -'.json'.length));
  const leases = await releaseLeasesOf(pool, ids);
  for (const name of dead) await rm(join(folder, name), { force: true });
  logger.info('leases of processes that were killed are free', { leases });
}

async function isOfTheDead(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return false; // Its owner has just removed it.
  let content: Partial<OwnerFile>;
  try {
    content = JSON.parse(text);
  } catch {
    return false; // Its owner has not finished writing it.
  }
  if (content.host !== hostname() || typeof content.pid !== 'number') return false;
  return (await processStart(content.pid)) !== content.startedAt;
}
