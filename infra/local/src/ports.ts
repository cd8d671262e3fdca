import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { writePrivateFile } from './files/private-file.ts';

/** A TCP port on the loopback interface that was free a moment ago; `preferred` if that one is. */
export async function freePort(preferred = 0): Promise<number> {
  const port = await tryPort(preferred);
  return port ?? freePort();
}

/** Whether nothing listens on a loopback port. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await tryPort(port)) !== null;
}

/**
 * A free port for a server of this data folder; the one it had last time if nobody took it since, so that addresses
 * written down elsewhere mostly stay right.
 */
export async function portFor(dataDir: string, server: string): Promise<number> {
  const file = join(dataDir, `${server}.port`);
  const last = Number(await readFile(file, 'utf8').catch(() => '0'));
  const port = await freePort(Number.isInteger(last) ? last : 0);
  if (port !== last) await writePrivateFile(file, String(port));
  return port;
}

function tryPort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(address && typeof address === 'object' ? address.port : null));
    });
  });
}
