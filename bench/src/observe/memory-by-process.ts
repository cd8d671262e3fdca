import { readFile } from 'node:fs/promises';
import { listProcesses } from './cpu-by-process.ts';

/**
 * Returns the memory of all processes below one by their parts, in millions of bytes. What several share, such as Node's
 * own code, is divided among them. Linux only.
 */
export async function readMemory(rootPid: number): Promise<Map<string, number>> {
  const memory = new Map<string, number>();
  for (const { pid, part } of await listProcesses(rootPid)) {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    const kibibytes = Number(/^Pss: +(\d+) kB/m.exec(text)?.[1] ?? 0);
    memory.set(part, (memory.get(part) ?? 0) + (kibibytes * 1024) / 1e6);
  }
  return memory;
}
