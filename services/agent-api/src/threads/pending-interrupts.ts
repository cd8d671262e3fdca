import { parseStoredJson } from './parse-stored-json.ts';
import type { StoredThread } from './stored-thread.ts';

/**
 * Returns the ids of the interrupts that wait for an answer. A thread whose answering run failed still waits; one that is
 * busy may have its answer.
 */
export function pendingInterrupts({ status, interrupts }: Pick<StoredThread, 'status' | 'interrupts'>): Set<string> {
  if (status === 'busy' || !interrupts) return new Set();
  const byTask = parseStoredJson(interrupts) as Record<string, { id?: string | null }[]>;
  return new Set(
    Object.values(byTask)
      .flat()
      .flatMap(({ id }) => id ?? []),
  );
}
