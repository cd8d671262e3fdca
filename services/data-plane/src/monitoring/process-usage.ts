import { readFile } from 'node:fs/promises';

/** The resource usage of a process and all its descendants. */
export interface ProcessUsage {
  /** CPU seconds since each process started. The sum falls when one of them ends. */
  cpuSeconds: number;
  /** Resident memory. */
  memoryBytes: number;
}

/** `USER_HZ`, the unit of times in `/proc`, is 100 on every Linux machine. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;
/** No real project has more; a process that forks endlessly must not hold up the sample. */
const DESCENDANTS_MAX = 200;

/** Returns null when there is no such process, or no `/proc`. */
export async function processUsage(pid: number): Promise<ProcessUsage | null> {
  const own = await usageOf(pid);
  if (!own) return null;
  const waiting = await childrenOf(pid);
  for (let asked = 0; waiting.length > 0 && asked < DESCENDANTS_MAX; asked += 1) {
    const child = waiting.pop()!;
    const usage = await usageOf(child);
    if (!usage) continue; // The child has ended meanwhile.
    own.cpuSeconds += usage.cpuSeconds;
    own.memoryBytes += usage.memoryBytes;
    waiting.push(...(await childrenOf(child)));
  }
  return own;
}

async function usageOf(pid: number): Promise<ProcessUsage | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (!stat) return null;
  // The second field, the command in parentheses, may contain spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [userTicks, systemTicks, residentPages] = [fields[11], fields[12], fields[21]].map(Number);
  return {
    cpuSeconds: ((userTicks ?? 0) + (systemTicks ?? 0)) / TICKS_PER_SECOND,
    memoryBytes: (residentPages ?? 0) * PAGE_BYTES,
  };
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}
