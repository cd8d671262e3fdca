import { createServer } from 'node:net';

/** Below the ports that systems give to whoever asks for any: no server and no connection is given one of these by chance. */
const PORTS = { from: 15_000, to: 32_000 };
const TRIES = 50;
const LOOPBACK = '127.0.0.1';

/**
 * A TCP port that nobody listens on, to be listened on later: meanwhile, and while its server restarts, the system gives it to nobody.
 * Another process that picks one, too, may be faster.
 *
 * @param host name or address that will be listened on
 */
export async function freePort(host = LOOPBACK): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));
    if (await isPortFree(port, host)) return port;
  }
  throw new Error(`none of ${TRIES} ports of ${host} was free`);
}

/** Whether nothing listens on a port of the host, of this machine. */
export function isPortFree(port: number, host = LOOPBACK): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
