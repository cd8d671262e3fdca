import { createHash, randomUUID } from 'node:crypto';
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '@runyard/service-kit/remove-folder';
import type { HostUser } from './host-user.ts';

/** The prefix of a folder in which nobody listens yet. */
const NEW_PREFIX = 'runyard-new-';
/**
 * The prefix names the machine: on a shared disk, the sockets of other machines refuse connections although somebody
 * listens.
 */
const MACHINE_PREFIX = `runyard-${createHash('sha256').update(hostname()).digest('hex').slice(0, 6)}-`;
/** The socket on which the process listens that a folder belongs to. */
const PRESENCE = 'owner';
/** The folder in it that belongs to the user of the project's code. */
const HOME = 'home';

/**
 * A folder for the sockets between this process and those that run the project's code, where they run as another user
 * too. Named pipes have no folder.
 *
 * The folder stays this process's: the other user may go through it, and changes nothing in it, so that no path in it
 * leads elsewhere than this process has made it lead. Below it is the other user's home folder. What that user makes
 * there is only used once it is moved out of its reach.
 *
 * A killed process leaves its folder behind, and the next process of its user removes it. A socket tells the two cases
 * apart, because another process or container may have the same id by now. The owner of a folder listens in it from
 * before the folder has its name until the process ends. A folder in which nobody listens has no owner.
 */
export class SocketFolder {
  readonly #path: string | null;
  readonly #presence: Server | undefined;
  readonly #user: HostUser | undefined;

  private constructor(path: string | null, presence?: Server, user?: HostUser) {
    this.#path = path;
    this.#presence = presence;
    this.#user = user;
  }

  /** @param user the user that runs the project's code, when it is not this process's */
  static async open(user?: HostUser): Promise<SocketFolder> {
    if (process.platform === 'win32') return new SocketFolder(null);
    await removeAbandoned();
    const begun = await mkdtemp(join(tmpdir(), NEW_PREFIX));
    try {
      const presence = await listen(join(begun, PRESENCE));
      await mkdir(join(begun, HOME), { mode: 0o700 });
      if (user) {
        await chown(join(begun, HOME), user.uid, user.gid);
        await chown(begun, 0, user.gid);
        await chmod(begun, 0o710);
      }
      const path = join(tmpdir(), MACHINE_PREFIX + begun.slice(-6));
      await rename(begun, path);
      return new SocketFolder(path, presence, user);
    } catch (error) {
      await rm(begun, { recursive: true, force: true });
      throw error;
    }
  }

  /**
   * Returns a path for a socket of this process, where nobody listens yet. It is short: the limit of a socket's path is
   * about a hundred bytes.
   */
  newPath(): string {
    return this.#path === null ? pipeName() : join(this.#path, newName());
  }

  /** Lets the other user connect to a socket of this process. */
  async grantAccess(socketPath: string): Promise<void> {
    if (!this.#user) return;
    await chown(socketPath, 0, this.#user.gid);
    await chmod(socketPath, 0o660);
  }

  /** Returns a path on which the process with the project's code can listen. */
  pathForHost(): string {
    return this.#path === null ? pipeName() : join(this.#path, HOME, newName());
  }

  /**
   * Takes a socket on which the process with the project's code listens to where that process cannot exchange it.
   *
   * @returns its new path
   * @throws Error when it is not a socket of the other user: connecting would reach somebody else
   */
  async takeFromHost(socketPath: string): Promise<string> {
    if (this.#path === null) return socketPath;
    const taken = this.newPath();
    await rename(socketPath, taken);
    const found = await lstat(taken);
    if (found.isSocket() && found.uid === (this.#user?.uid ?? process.getuid?.())) return taken;
    await removeFolder(taken);
    throw new Error('The project put something else in the place of the socket of its app.');
  }

  /**
   * Sets HOME and TMPDIR in the environment of the other user, which has no home of its own, and must not keep temporary
   * files where others could replace them, or where they would stay behind.
   */
  withHome(environment: Record<string, string>): Record<string, string> {
    if (!this.#user || this.#path === null) return environment;
    const home = join(this.#path, HOME);
    return { ...environment, HOME: home, TMPDIR: home };
  }

  async remove(): Promise<void> {
    this.#presence?.close();
    if (this.#path !== null) await removeFolder(this.#path);
  }
}

function newName(): string {
  return randomUUID().slice(0, 8);
}

function pipeName(): string {
  return `\\\\.\\pipe\\runyard-${randomUUID()}`;
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
    if (await isAbandoned(path)) await removeFolder(path).catch(() => undefined);
  }
}

/** Folders of other users are theirs, whatever their name. */
async function isAbandoned(path: string): Promise<boolean> {
  try {
    const folder = await lstat(path);
    return folder.isDirectory() && folder.uid === process.getuid?.() && !(await isListening(join(path, PRESENCE)));
  } catch {
    // The folder was removed in the meantime.
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
