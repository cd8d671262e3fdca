import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';

/** Identifies a process in a file that others read after its end. */
export interface ProcessIdentity {
  pid: number;
  /** Its start, in the kernel's unit: ids of processes are reused, the pair is unique. */
  startedAt: string;
  host: string;
}

/** Returns the identity of this process; null on systems without `/proc`. */
export async function identifyProcess(): Promise<ProcessIdentity | null> {
  const startedAt = await processStart(process.pid);
  return startedAt === null ? null : { pid: process.pid, startedAt, host: hostname() };
}

/** Reads an identity as JSON; null for what its process has not finished writing. */
export function parseIdentity(text: string): ProcessIdentity | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns whether the process runs or has ended; `unknown` for one of another machine, or container. */
export async function stateOfProcess(identity: ProcessIdentity): Promise<'runs' | 'ended' | 'unknown'> {
  const { pid, startedAt, host } = identity;
  if (host !== hostname() || typeof pid !== 'number') return 'unknown';
  return (await processStart(pid)) === startedAt ? 'runs' : 'ended';
}

/** Returns null when there is no such process, or no `/proc`. */
async function processStart(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (!stat) return null;
  // The second field, the command in parentheses, may contain spaces and parentheses itself.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? null : (fields[18] ?? null);
}
