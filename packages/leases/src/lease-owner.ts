import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identifyProcess, type Logger, parseIdentity, stateOfProcess } from '@runyard/service-kit';
import type pg from 'pg';
import { releaseLeasesOf } from './lease.ts';

interface LeaseOwner {
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
  // All processes of a service on a machine share the folder of these files.
  const identity = await identifyProcess();
  if (identity) await writeFile(file, JSON.stringify(identity));
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
  const owner = parseIdentity(text);
  return owner !== null && (await stateOfProcess(owner)) === 'ended';
}
