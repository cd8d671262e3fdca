import { createServer } from 'node:net';

/** A range below the ephemeral ports: the system assigns none of these to servers or connections by chance. */
const PORTS = { from: 15_000, to: 32_000 };
const TRIES = 50;
const LOOPBACK = '127.0.0.1';

/** The port that the next call tries first, from `PORTS.from` on. Chance keeps processes apart that start together. */
let next = Math.floor(Math.random() * (PORTS.to - PORTS.from));

/**
 * Returns a TCP port that nobody listens on, for later use. The system does not assign it in the meantime, or while its
 * server restarts, and this process returns it again only after all others. Another process may choose the same one.
 *
 * @param host name or address to listen on
 */
export async function freePort(host = LOOPBACK): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = PORTS.from + next;
    next = (next + 1) % (PORTS.to - PORTS.from);
    if (await isPortFree(port, host)) return port;
  }
  throw new Error(`none of ${TRIES} ports of ${host} was free`);
}

/** Returns whether nothing listens on a port of this machine's host address. */
export function isPortFree(port: number, host = LOOPBACK): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
