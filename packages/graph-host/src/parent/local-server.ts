import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOOPBACK_HEADER, type Loopback } from '../local-http.ts';

/** A folder for sockets that only this user can enter; named pipes have no folder. */
export class SocketFolder {
  readonly #path: string | null;

  private constructor(path: string | null) {
    this.#path = path;
  }

  static async open(): Promise<SocketFolder> {
    if (process.platform === 'win32') return new SocketFolder(null);
    const path = await mkdtemp(join(tmpdir(), 'runyard-'));
    await chmod(path, 0o700);
    return new SocketFolder(path);
  }

  /** A path where nobody listens yet. Short: the limit of a socket's path is about a hundred bytes. */
  newPath(): string {
    const name = randomUUID().slice(0, 8);
    return this.#path === null ? `\\\\.\\pipe\\runyard-${randomUUID()}` : join(this.#path, name);
  }

  async remove(): Promise<void> {
    if (this.#path !== null) await rm(this.#path, { recursive: true, force: true });
  }
}

const KEEP_ALIVE_MS = 75_000;

export interface LoopbackServer extends Loopback {
  close(): Promise<void>;
}

/** Listens for the hosts of this process. A request without the token is not looked at. */
export async function openLoopback(folder: SocketFolder, onRequest: RequestListener): Promise<LoopbackServer> {
  const token = randomBytes(32).toString('base64url');
  const socketPath = folder.newPath();
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 }, (req, res) => {
    if (isFrom(req, token)) onRequest(req, res);
    else res.writeHead(403, { 'content-type': 'application/json', connection: 'close' }).end('{"detail":"Forbidden"}');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  return {
    socketPath,
    token,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Whether the request shows the token. The header is taken off: it is nobody else's business. */
export function isFrom(req: IncomingMessage, token: string): boolean {
  const given = Buffer.from(String(req.headers[LOOPBACK_HEADER] ?? ''));
  delete req.headers[LOOPBACK_HEADER];
  const expected = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
