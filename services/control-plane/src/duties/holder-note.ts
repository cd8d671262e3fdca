import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';
import { processStart } from './process-start.ts';

/**
 * Identifies a lease owner's process in its owner file. All control-planes of a machine share the folder of these
 * files.
 */
interface Note {
  pid: number;
  startedAt: string;
  host: string;
}

export interface Holder {
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
export async function openHolder(options: { dataDir: string; pool: pg.Pool; logger: Logger }): Promise<Holder> {
  const folder = join(options.dataDir, 'holders');
  await mkdir(folder, { recursive: true });
  await releaseDead(folder, options).catch((error: unknown) => {
    options.logger.warn('leases of processes that were killed are left to lapse', { error });
  });
  const id = randomUUID();
  const file = join(folder, `${id}.json`);
  const startedAt = await processStart(process.pid);
  if (startedAt !== null) {
    const note: Note = { pid: process.pid, startedAt, host: hostname() };
    await writeFile(file, JSON.stringify(note));
  }
  return { id, forget: () => rm(file, { force: true }) };
}

async function releaseDead(folder: string, { pool, logger }: { pool: pg.Pool; logger: Logger }): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  const dead: string[] = [];
  for (const name of names) if (await isOfTheDead(join(folder, name))) dead.push(name);
  if (dead.length === 0) return;
  const ids = dead.map((name) => name.slice(0, -'.json'.length));
  const { rowCount } = await pool.query('DELETE FROM duty WHERE holder::text = ANY($1::text[])', [ids]);
  for (const name of dead) await rm(join(folder, name), { force: true });
  logger.info('leases of processes that were killed are free', { leases: rowCount });
}

async function isOfTheDead(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return false; // Its owner has just removed it.
  let note: Partial<Note>;
  try {
    note = JSON.parse(text);
  } catch {
    return false; // Its owner has not finished writing it.
  }
  if (note.host !== hostname() || typeof note.pid !== 'number') return false;
  return (await processStart(note.pid)) !== note.startedAt;
}
