import { createServer } from 'node:net';

/** Below the ports that systems give to whoever asks for any: servers and connections of other tests get none of these. */
const PORTS = { from: 15_000, to: 32_000 };
const TRIES = 50;

/** A TCP port on the loopback interface that is free, and that nobody is given by chance. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${TRIES} ports was free`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
