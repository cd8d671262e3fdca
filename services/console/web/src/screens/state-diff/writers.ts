import type { ListedCheckpoint } from '../../platform/threads.ts';

/**
 * Returns which nodes wrote each key of the state between two checkpoints of a branch, in their order. What they wrote
 * stands at the checkpoint that they led to, or, where the project's LangGraph leaves it out there, with the tasks of the
 * one before.
 *
 * @param checkpoints of the history, in any order
 * @returns null where the later one does not come from the earlier one, as far as the history is known
 */
export function writersBetween(
  checkpoints: readonly ListedCheckpoint[],
  { from, to }: { from: string; to: string },
): Map<string, string[]> | null {
  const byId = new Map(checkpoints.map((checkpoint) => [checkpoint.checkpoint_id, checkpoint]));
  const steps: Step[] = [];
  for (let id: string | null | undefined = to; id !== from; ) {
    const after: ListedCheckpoint | undefined = byId.get(id ?? null);
    const before = byId.get(after?.parent_checkpoint_id ?? '');
    if (!after || !before || steps.length > checkpoints.length) return null;
    steps.unshift({ before, after });
    id = before.checkpoint_id;
  }
  const writers = new Map<string, string[]>();
  for (const step of steps)
    for (const [name, update] of updatesOf(step))
      for (const key of keysOf(update)) {
        const known = writers.get(key) ?? [];
        if (known.at(-1) !== name) writers.set(key, [...known, name]);
      }
  return writers;
}

interface Step {
  before: ListedCheckpoint;
  after: ListedCheckpoint;
}

/** Returns what each node wrote in a step. */
function updatesOf({ before, after }: Step): [string, unknown][] {
  const writes = after.metadata?.writes;
  if (typeof writes === 'object' && writes !== null && Object.keys(writes).length > 0) return Object.entries(writes);
  return before.tasks.map(({ name, result }) => [name, result]);
}

function keysOf(update: unknown): string[] {
  return typeof update === 'object' && update !== null && !Array.isArray(update) ? Object.keys(update) : [];
}
