import { constants } from 'node:fs';
import { chown, lstat, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { InfrastructureError } from '../infrastructure-error.ts';
import { runProgram } from '../run-program.ts';

/** How to run a Postgres program: its user, and a prefix of the command. */
export interface RunAs {
  /** The owner of the files; absent for the user that runs this. */
  owner?: { uid: number; gid: number };
  /** Turns a command into one that runs as the owner. */
  command(program: string, args: string[]): { command: string; args: string[]; uid?: number; gid?: number };
}

/**
 * Returns the account that runs Postgres, which refuses to run as root. Started by root it runs as `postgres` or
 * `nobody`, who owns the data folder. Where that account cannot enter a folder on the way (a private home or temporary
 * folder), it is lent the one capability needed for that rather than opening the folder to everybody.
 */
export async function chooseAccount(folders: string[]): Promise<RunAs> {
  if (process.getuid?.() !== 0) return { command: (command, args) => ({ command, args }) };
  const owner = await unprivilegedAccount();
  const closed = await firstClosedFolder(folders);
  if (!closed) return { owner, command: (command, args) => ({ command, args, ...owner }) };
  for (const capability of ['dac_read_search', 'dac_override']) {
    const options = [
      `--reuid=${owner.uid}`,
      `--regid=${owner.gid}`,
      '--clear-groups',
      // Without this, access(2) checks the account alone.
      '--securebits=+no_setuid_fixup',
      `--inh-caps=-all,+${capability}`,
      `--ambient-caps=-all,+${capability}`,
    ];
    const lends = await runProgram('setpriv', [...options, 'test', '-x', closed]);
    if (lends.ok)
      return { owner, command: (command, args) => ({ command: 'setpriv', args: [...options, command, ...args] }) };
  }
  throw new InfrastructureError(
    `Postgres does not run as root, and no other account may enter ${closed}: run as an ordinary user, choose a --data-dir that every user may enter, or set RUNYARD_POSTGRES_URL.`,
  );
}

/** Gives a folder and everything in it to the owner. */
export async function changeOwner(owner: RunAs['owner'], folder: string): Promise<void> {
  if (owner && (await stat(folder)).uid !== owner.uid) await chownAll(folder, owner.uid, owner.gid);
}

async function chownAll(path: string, uid: number, gid: number): Promise<void> {
  await chown(path, uid, gid);
  if (!(await lstat(path)).isDirectory()) return;
  for (const name of await readdir(path)) await chownAll(join(path, name), uid, gid);
}

async function unprivilegedAccount(): Promise<{ uid: number; gid: number }> {
  const accounts = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'));
  const found = accounts.find(([name]) => name === 'postgres') ?? accounts.find(([name]) => name === 'nobody');
  if (!found)
    throw new InfrastructureError(
      'Postgres does not run as root, and there is neither an account postgres nor nobody.',
    );
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

async function firstClosedFolder(folders: string[]): Promise<string | null> {
  for (const folder of folders) {
    for (let path = dirname(folder); ; path = dirname(path)) {
      if (!((await stat(path)).mode & constants.S_IXOTH)) return path;
      if (path === dirname(path)) break;
    }
  }
  return null;
}
