import type { ListedCheckpoint } from '../../platform/threads.ts';

/** A checkpoint in a history that is drawn newest first, with a lane for each branch. */
export interface CheckpointRow {
  id: string;
  parentId: string | undefined;
  checkpoint: ListedCheckpoint;
  /** The place of its branch, from 0. */
  lane: number;
  /** The content of each lane of this line: a checkpoint, a branch that passes by, one that ends here, nothing. */
  lanes: ('self' | 'passes' | 'joins' | 'empty')[];
  /** True if nothing goes on from the checkpoint. */
  isTip: boolean;
  /** How many branches go on from it, where they are more than one. */
  forks: number;
}

/**
 * Lays out a history as a tree of forks. `checkpoints` come newest first, so that each comes before its parent; of a
 * history that has been read in part the older ones may be missing.
 */
export function checkpointTree(checkpoints: readonly ListedCheckpoint[]): CheckpointRow[] {
  /** By lane, the checkpoint that it leads to. */
  const open: (string | undefined)[] = [];
  const rows: CheckpointRow[] = [];
  for (const checkpoint of checkpoints) {
    const id = checkpoint.checkpoint_id;
    if (id === null) continue;
    const leading = open.flatMap((awaited, lane) => (awaited === id ? [lane] : []));
    const lane = leading[0] ?? firstFree(open);
    const lanes = Array.from({ length: Math.max(open.length, lane + 1) }, (_, index) => {
      if (index === lane) return 'self';
      if (leading.includes(index)) return 'joins';
      return open[index] === undefined ? 'empty' : 'passes';
    });
    for (const ended of leading) open[ended] = undefined;
    const parentId = checkpoint.parent_checkpoint_id ?? undefined;
    open[lane] = parentId;
    while (open.length > 0 && open.at(-1) === undefined) open.pop();
    rows.push({
      id,
      parentId,
      checkpoint,
      lane,
      lanes,
      isTip: leading.length === 0,
      forks: leading.length > 1 ? leading.length : 0,
    });
  }
  return rows;
}

/** Returns the nodes that wrote a checkpoint, `__start__` for an input. */
export function writersOf({ metadata }: Pick<ListedCheckpoint, 'metadata'>): string[] {
  const writes = metadata?.writes;
  return typeof writes === 'object' && writes !== null ? Object.keys(writes) : [];
}

/** Returns what made a checkpoint, in words. */
export function describeCheckpoint(checkpoint: Pick<ListedCheckpoint, 'metadata'>): string {
  const source = checkpoint.metadata?.source;
  const writers = writersOf(checkpoint).filter((name) => name !== '__start__');
  if (source === 'input') return 'Input';
  if (source === 'fork') return 'Fork';
  if (source === 'update') return writers.length > 0 ? `Update as ${writers.join(', ')}` : 'Update';
  if (writers.length > 0) return writers.join(', ');
  return Number(checkpoint.metadata?.step) > 0 ? 'Nothing written' : 'Start';
}

function firstFree(open: readonly (string | undefined)[]): number {
  const free = open.indexOf(undefined);
  return free === -1 ? open.length : free;
}
