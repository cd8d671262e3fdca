import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { endProcesses } from './end-processes.ts';
import type { SystemUser } from './user-range.ts';

/** Folders that all users of a machine may write to. */
const SHARED_FOLDERS: ReadonlySet<string> = new Set([tmpdir(), '/tmp', '/var/tmp', '/dev/shm', '/run/lock']);

/**
 * Ends all processes of a user, and removes what it has left outside of its own folders: files in those that everybody
 * may write to, and shared memory, queues and semaphores. What cannot be removed stays.
 *
 * @throws Error when a process goes on running
 */
export async function clearUser(user: SystemUser): Promise<void> {
  await endProcesses(user);
  const { uid, gid } = user;
  const own = ['-user', String(uid), '-prune', '-exec', 'rm', '-rf', '--', '{}', '+'];
  const closed = ['-type', 'd', '!', '-perm', '-o=w', '-prune'];
  // Only folders that it could write to are read: such a folder may have any number of files of others.
  await tryToRun('find', [...SHARED_FOLDERS, '-mindepth', '1', '-xdev', '(', ...own, '-o', ...closed, ')']);
  // It tries to remove those of everybody, and the kernel lets a user remove its own.
  await tryToRun('ipcrm', ['--all'], { uid, gid });
}

/** A folder may be missing, and another user's file may be in one of this user's. */
function tryToRun(program: string, args: string[], as: Partial<SystemUser> = {}): Promise<void> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: '/', env: { PATH: process.env.PATH }, ...as }, () => resolve());
  });
}
