import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ConfigError, processStart } from '@runyard/service-kit';

interface Holder {
  pid: number;
  startedAt: string | null;
  host: string;
}

/**
 * Claims the folder for this process: two data planes with one state would both run all that is in it. A claim ends with
 * its process, however that ends. Only processes of the same machine, or container, are known to live.
 *
 * @returns gives the folder up
 * @throws ConfigError while another data plane has it
 */
export async function claimFolder(dataDir: string): Promise<() => Promise<void>> {
  const file = join(dataDir, 'data-plane.holder');
  await mkdir(dataDir, { recursive: true });
  const own: Holder = { pid: process.pid, startedAt: await processStart(process.pid), host: hostname() };
  const claim = () => writeFile(file, JSON.stringify(own), { flag: 'wx' });
  await claim().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    const holder = await readHolder(file);
    if (holder && (await lives(holder))) {
      throw new ConfigError([
        `DATA_DIR ${dataDir} is the folder of another data plane, process ${holder.pid}. Each needs one of its own.`,
      ]);
    }
    await rm(file, { force: true });
    await claim();
  });
  return () => rm(file, { force: true });
}

/** Returns null for what a process that was killed has not finished writing. */
async function readHolder(file: string): Promise<Holder | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return null;
  }
}

async function lives({ pid, startedAt, host }: Holder): Promise<boolean> {
  return host === hostname() && startedAt !== null && (await processStart(pid)) === startedAt;
}
