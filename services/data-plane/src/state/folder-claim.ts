import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, identifyProcess, parseIdentity, stateOfProcess } from '@runyard/service-kit';

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
  const identity = await identifyProcess();
  if (!identity) return async () => undefined;
  const claim = () => writeFile(file, JSON.stringify(identity), { flag: 'wx' });
  await claim().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    const holder = parseIdentity(await readFile(file, 'utf8').catch(() => ''));
    if (holder && (await stateOfProcess(holder)) === 'runs') {
      throw new ConfigError([
        `DATA_DIR ${dataDir} is the folder of another data plane, process ${holder.pid}. Each needs one of its own.`,
      ]);
    }
    await rm(file, { force: true });
    await claim();
  });
  return () => rm(file, { force: true });
}
