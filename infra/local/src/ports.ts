import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, isPortFree } from '@runyard/service-kit/ports';
import { writePrivateFile } from './files/private-file.ts';

/**
 * Returns a free port for a server of this data folder; the one it had last time if it is still free, so that addresses
 * written down elsewhere mostly stay right.
 */
export async function choosePort(dataDir: string, server: string): Promise<number> {
  const file = join(dataDir, `${server}.port`);
  const last = Number(await readFile(file, 'utf8').catch(() => '0'));
  if (last > 0 && last < 65_536 && (await isPortFree(last))) return last;
  const port = await freePort();
  await writePrivateFile(file, String(port));
  return port;
}
