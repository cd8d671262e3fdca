import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** A process id together with when the process began: process ids are used again, the pair is not. */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

/** Returns the process that has this id now, or null. */
export async function readProcessIdentity(pid: number): Promise<ProcessIdentity | null> {
  const startedAt = process.platform === 'linux' ? await startTicks(pid) : await startDate(pid);
  return startedAt ? { pid, startedAt } : null;
}

export async function isAlive(process: ProcessIdentity): Promise<boolean> {
  return (await readProcessIdentity(process.pid))?.startedAt === process.startedAt;
}

async function startTicks(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (!stat) return null;
  // The second field, the command in parentheses, may contain spaces and parentheses of its own.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields[0], fields[19]];
  return state === 'Z' || !startTime ? null : startTime;
}

async function startDate(pid: number): Promise<string | null> {
  const ps = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => null);
  return ps?.stdout.trim() || null;
}
