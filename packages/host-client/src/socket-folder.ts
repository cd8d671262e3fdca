import { createHash, randomUUID } from 'node:crypto';
import { chown, lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostUser } from './host-user.ts';

/** The prefix of a folder in which nobody listens yet. */
const NEW_PREFIX = 'runyard-new-';
/**
 * The prefix names the machine: on a shared disk, the sockets of other machines refuse connections although somebody
 * listens.
 */
const MACHINE_PREFIX = `runyard-${createHash('sha256').update(hostname()).digest('hex').slice(0, 6)}-`;

/**
 * A folder for sockets that only its user can enter: the user of this process, or the one that the project's code runs
 * as. For the latter it is the home folder too. Named pipes have no folder.
 *
 * A killed process leaves its folder behind, and the next process of the user removes it. A socket tells the two cases
 * apart, because another process or container may have the same id by now. The owner of a folder listens in it from
 * before the folder has its name until the process ends. A folder in which nobody listens has no owner.
 */
export class SocketFolder {
  readonly #path: string | null;
  readonly #ownerServer: Server | undefined;
  readonly #user: HostUser | undefined;

  private constructor(path: string | null, presence?: Server, user?: HostUser) {
    this.#path = path;
    this.#ownerServer = presence;
    this.#user = user;
  }

  static async open(user?: HostUser): Promise<SocketFolder> {
    if (process.platform === 'win32') return new SocketFolder(null);
    await removeAbandoned();
    const begun = await mkdtemp(join(tmpdir(), NEW_PREFIX));
    try {
      const presence = await listen(join(begun, newName()));
      const path = join(tmpdir(), MACHINE_PREFIX + begun.slice(-6));
      await rename(begun, path);
      if (user) await chown(path, user.uid, user.gid);
      return new SocketFolder(path, presence, user);
    } catch (error) {
      await rm(begun, { recursive: true, force: true });
      throw error;
    }
  }

  /** Returns a path where nobody listens yet. It is short: the limit of a socket's path is about a hundred bytes. */
  newPath(): string {
    return this.#path === null ? `\\\\.\\pipe\\runyard-${randomUUID()}` : join(this.#path, newName());
  }

  /** Lets the folder's user connect to a socket of this process. */
  async grantAccess(socketPath: string): Promise<void> {
    if (this.#user) await chown(socketPath, this.#user.uid, this.#user.gid);
  }

  /**
   * Sets HOME and TMPDIR in the environment of the folder's user. Another user has no home of its own, and must not
   * keep temporary files where others could replace them, or where they would stay behind.
   */
  withHome(environment: Record<string, string>): Record<string, string> {
    return this.#user && this.#path !== null ? { ...environment, HOME: this.#path, TMPDIR: this.#path } : environment;
  }

  async remove(): Promise<void> {
    this.#ownerServer?.close();
    if (this.#path !== null) await rm(this.#path, { recursive: true, force: true });
  }
}

function newName(): string {
  return randomUUID().slice(0, 8);
}

/** Listens, closes every connection, and keeps no process alive. */
async function listen(socketPath: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  // Without free descriptors it cannot close connections; a successful connect is answer enough.
  server.on('error', () => undefined);
  return server;
}

async function removeAbandoned(): Promise<void> {
  const names = await readdir(tmpdir());
  for (const name of names.filter((each) => each.startsWith(MACHINE_PREFIX))) {
    const path = join(tmpdir(), name);
    if (await isAbandoned(path)) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  try {
    const folder = await lstat(path);
    const uid = process.getuid?.();
    // Root gives its folders to other users.
    if (!folder.isDirectory() || (folder.uid !== uid && uid !== 0)) return false;
    const listening = await Promise.all((await readdir(path)).map((name) => isListening(join(path, name))));
    return !listening.includes(true);
  } catch {
    // The folder was removed in the meantime, or this user may not read it.
    return false;
  }
}

/** Errors of a connection to a socket where nobody listens any more. */
const NOBODY_LISTENS: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT']);

/** Returns whether somebody listens, or may: everything but a plain refusal counts as an answer. */
function isListening(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(!NOBODY_LISTENS.has(error.code)));
  });
}
