import { readFile } from 'node:fs/promises';

/** What a process and all its descendants have used. */
export interface ProcessUsage {
  /** Of processor time, since each of them began. Falls when one of them ends. */
  cpuSeconds: number;
  /** Resident. */
  memoryBytes: number;
}

/** Of Linux, whatever the machine: the unit of times in `/proc`. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;
/** Nobody's project has as many; a process that forks without end must not hold up the sample. */
const DESCENDANTS_MAX = 200;

/** Null when there is no such process, or no `/proc` to ask. */
export async function processUsage(pid: number): Promise<ProcessUsage | null> {
  const own = await usageOf(pid);
  if (!own) return null;
  const waiting = await childrenOf(pid);
  for (let asked = 0; waiting.length > 0 && asked < DESCENDANTS_MAX; asked += 1) {
    const child = waiting.pop()!;
    const usage = await usageOf(child);
    if (!usage) continue; // It ended meanwhile.
    own.cpuSeconds += usage.cpuSeconds;
    own.memoryBytes += usage.memoryBytes;
    waiting.push(...(await childrenOf(child)));
  }
  return own;
}

async function usageOf(pid: number): Promise<ProcessUsage | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (!stat) return null;
  // The second field, the command in parentheses, may hold spaces and parentheses of its own.
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
