import { readFile } from 'node:fs/promises';

/**
 * When a process of this machine began, in a form of the system's own: process ids are used again, the pair is not. Null
 * when there is no such process, or no `/proc` to ask.
 */
export async function processStart(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (!stat) return null;
  // The second field, the command in parentheses, may hold spaces and parentheses of its own.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? null : (fields[18] ?? null);
}
