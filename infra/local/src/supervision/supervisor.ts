import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writePrivateFile } from '../files/private-file.ts';
import { InfrastructureError } from '../infrastructure-error.ts';
import { findHolder, takeExclusiveFile } from './exclusive-file.ts';
import { startGuard } from './guard.ts';
import { isAlive, type ProcessIdentity, readProcessIdentity } from './process-identity.ts';
import { SupervisedProcess } from './supervised-process.ts';

/**
 * Owns a data folder and every process started for it. It promises that a folder has one owner at a time, and that no
 * child outlives its owner, also one that was killed (see the guard) or whose guard was killed with it (the next owner
 * stops what the record of processes names). Children run in sessions of their own: a Ctrl-C in the terminal reaches
 * only the owner, which stops them in the right order.
 */
export interface Supervisor {
  readonly dataDir: string;
  start(options: ServerProcessOptions): Promise<SupervisedProcess>;
  /** Releases the folder. Processes that are still running are stopped, the last started first. */
  close(): Promise<void>;
}

interface ServerProcessOptions {
  name: string;
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** The file to which output is appended. */
  logFile: string;
  /** The number of pipes beyond the standard three, at `child.stdio[3]` and on. */
  extraPipes?: number;
  uid?: number;
  gid?: number;
  /** Default SIGTERM. */
  stopSignal?: NodeJS.Signals;
  /** True for a program that starts others and does not end them itself: its whole process group is stopped. */
  stopsGroup?: boolean;
}

interface ProcessRecord extends ProcessIdentity {
  name: string;
  stopSignal: NodeJS.Signals;
  /** The process id, or the negative one for its group. */
  target: number;
}

const LOCK = 'owner.lock';

function inUse(dataDir: string, { pid }: ProcessIdentity): InfrastructureError {
  return new InfrastructureError(
    `Process ${pid} already runs on ${dataDir}: stop it, or choose another folder with --data-dir.`,
  );
}

/** @throws InfrastructureError when a process runs on the data folder */
export async function requireUnused(dataDir: string): Promise<void> {
  const holder = await findHolder(join(dataDir, LOCK));
  if (holder) throw inUse(dataDir, holder);
}

export async function openSupervisor(dataDir: string): Promise<Supervisor> {
  await mkdir(dataDir, { recursive: true });
  const lock = await takeExclusiveFile(join(dataDir, LOCK));
  if ('holder' in lock) throw inUse(dataDir, lock.holder);
  const recordFile = join(dataDir, 'processes.json');
  await stopLeftovers(recordFile);
  const guard = startGuard();
  const running = new Map<SupervisedProcess, ProcessRecord>();
  let closing = false;
  // Writes come one at a time, each with the newest content.
  let recorded = Promise.resolve();
  const record = (): Promise<void> => {
    recorded = recorded.then(() => writePrivateFile(recordFile, JSON.stringify([...running.values()], null, 2)));
    return recorded;
  };

  return {
    dataDir,
    async start(options) {
      if (closing) throw new InfrastructureError(`${options.name} is not started: everything is being stopped.`);
      const stopSignal = options.stopSignal ?? 'SIGTERM';
      const log = openSync(options.logFile, 'a', 0o600);
      const child = spawn(options.command, options.args, {
        cwd: options.cwd,
        env: options.env ?? process.env,
        uid: options.uid,
        gid: options.gid,
        detached: true,
        stdio: ['ignore', log, log, ...Array<'pipe'>(options.extraPipes ?? 0).fill('pipe')],
      });
      closeSync(log);
      if (child.pid === undefined) {
        const [error] = await once(child, 'error');
        throw new InfrastructureError(`${options.name} does not start: ${error.message}.`);
      }
      const target = options.stopsGroup ? -child.pid : child.pid;
      guard.add(target, stopSignal);
      const supervised = new SupervisedProcess(options.name, child, { pid: child.pid, target, stopSignal });
      const identity = await readProcessIdentity(child.pid);
      if (identity && !supervised.ended)
        running.set(supervised, { ...identity, name: options.name, stopSignal, target });
      void supervised.exited.then(() => {
        guard.drop(target);
        running.delete(supervised);
        return record();
      });
      await record();
      return supervised;
    },
    async close() {
      closing = true;
      for (const supervised of [...running.keys()].reverse()) await supervised.stop(10_000);
      await recorded;
      await guard.close();
      await lock.release();
    },
  };
}

/** Stops what a killed owner left behind. It touches only a process that is still the very one recorded. */
async function stopLeftovers(recordFile: string): Promise<void> {
  const records: ProcessRecord[] = await readFile(recordFile, 'utf8')
    .then(JSON.parse)
    .catch(() => []);
  for (const leftover of records.reverse()) {
    if (!(await isAlive(leftover))) continue;
    // A release before this one recorded no target.
    const { target = leftover.pid, stopSignal } = leftover;
    process.kill(target, stopSignal);
    const deadline = Date.now() + 10_000;
    while ((await isAlive(leftover)) && Date.now() < deadline) await pause(50);
    if (await isAlive(leftover)) process.kill(target, 'SIGKILL');
    while (await isAlive(leftover)) await pause(20);
  }
}
