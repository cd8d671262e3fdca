import { createHash, randomUUID } from 'node:crypto';
import { chown, lstat, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostUser } from './host-user.ts';

/** While nobody listens in it yet. */
const BEGUN = 'runyard-new-';
/** Names the machine: on a disk that several share, the sockets of the others are silent although somebody listens. */
const MADE = `runyard-${createHash('sha256').update(hostname()).digest('hex').slice(0, 6)}-`;

/**
 * A folder for sockets that only its user can enter: this process's, or the one that the project's code runs as, whose home it is
 * then. Named pipes have no folder.
 *
 * A process that is killed leaves its folder behind, and the next one of the user removes it. What tells the two apart is not an
 * id, which another process or another container may have by now, but a socket: whoever has a folder listens in it from before
 * the folder has its name until the process ends. A folder in which nobody listens is nobody's.
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

  static async open(user?: HostUser): Promise<SocketFolder> {
    if (process.platform === 'win32') return new SocketFolder(null);
    await removeDeserted();
    const begun = await mkdtemp(join(tmpdir(), BEGUN));
    try {
      const presence = await listen(join(begun, newName()));
      const path = join(tmpdir(), MADE + begun.slice(-6));
      await rename(begun, path);
      if (user) await chown(path, user.uid, user.gid);
      return new SocketFolder(path, presence, user);
    } catch (error) {
      await rm(begun, { recursive: true, force: true });
      throw error;
    }
  }

  /** A path where nobody listens yet. Short: the limit of a socket's path is about a hundred bytes. */
  newPath(): string {
    return this.#path === null ? `\\\\.\\pipe\\runyard-${randomUUID()}` : join(this.#path, newName());
  }

  /** Lets the folder's user connect to a socket of this process. */
  async admit(socketPath: string): Promise<void> {
    if (this.#user) await chown(socketPath, this.#user.uid, this.#user.gid);
  }

  /** Of an environment for the folder's user: who runs as somebody else has no home of its own. */
  withHome(environment: Record<string, string>): Record<string, string> {
    return this.#user && this.#path !== null ? { ...environment, HOME: this.#path } : environment;
  }

  async remove(): Promise<void> {
    this.#presence?.close();
    if (this.#path !== null) await rm(this.#path, { recursive: true, force: true });
  }
}

function newName(): string {
  return randomUUID().slice(0, 8);
}

/** Hangs up on everybody, and keeps no process alive. */
async function listen(socketPath: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  // Without descriptors left it cannot hang up; whoever asks has its answer all the same.
  server.on('error', () => undefined);
  return server;
}

async function removeDeserted(): Promise<void> {
  const names = await readdir(tmpdir());
  for (const name of names.filter((each) => each.startsWith(MADE))) {
    const path = join(tmpdir(), name);
    if (await isDeserted(path)) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function isDeserted(path: string): Promise<boolean> {
  try {
    const folder = await lstat(path);
    const uid = process.getuid?.();
    // Root has given its folders to others.
    if (!folder.isDirectory() || (folder.uid !== uid && uid !== 0)) return false;
    const heard = await Promise.all((await readdir(path)).map((name) => isHeard(join(path, name))));
    return !heard.includes(true);
  } catch {
    // It went meanwhile, or is not for us to look into.
    return false;
  }
}

/** What a connection meets where nobody listens any more. */
const SILENT: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT']);

/** Whether somebody listens, or may: whatever is not a plain refusal counts as an answer. */
function isHeard(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(!SILENT.has(error.code)));
  });
}
