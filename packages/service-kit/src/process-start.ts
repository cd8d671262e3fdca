import { readFile } from 'node:fs/promises';

/**
 * Returns the start time of a process of this machine, in the kernel's unit. The pair of process id and start time is
 * unique, whereas process ids are reused. Null when there is no such process, or no `/proc`.
 */
export async function processStart(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (!stat) return null;
  // The second field, the command in parentheses, may contain spaces and parentheses itself.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? null : (fields[18] ?? null);
}
