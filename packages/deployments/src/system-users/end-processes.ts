import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { isOfUser } from './process-users.ts';
import type { SystemUser } from './user-range.ts';

/** Milliseconds until processes that cannot be ended are an error. */
const LIMIT_MS = 10_000;
const PAUSE_MS = 20;
/** Matches a process that has ended, and whose parent has not asked how. */
const ENDED = /^State:\t[ZX]/m;

/**
 * Kills every process of the user, however it was started, and resolves when none runs.
 *
 * @throws Error when one goes on running
 */
export async function endProcesses(user: SystemUser): Promise<void> {
  // As root, the signal below would reach the whole machine.
  if (!(user.uid > 0)) throw new Error(`processes of user ${user.uid} are not ended`);
  const until = Date.now() + LIMIT_MS;
  for (;;) {
    await signalAll(user);
    if (!(await hasProcesses(user.uid))) return;
    if (Date.now() > until) throw new Error(`processes of user ${user.uid} could not be ended`);
    await pause(PAUSE_MS);
  }
}

/**
 * Sends SIGKILL to all processes of the user. The kernel does it in one step, so that no process escapes by starting
 * others meanwhile. It leaves out the sender, and what other users run.
 */
function signalAll({ uid, gid }: SystemUser): Promise<void> {
  return new Promise((resolve) => {
    // Without a process to signal it fails, and it may be killed itself: whether any is left decides.
    execFile('/bin/sh', ['-c', 'kill -KILL -1'], { uid, gid, env: {}, cwd: '/' }, () => resolve());
  });
}

/** Returns whether the user has a running process. Systems without `/proc` do not tell. */
async function hasProcesses(uid: number): Promise<boolean> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name));
  const statuses = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')));
  return statuses.some((status) => !ENDED.test(status) && isOfUser(status, uid));
}
