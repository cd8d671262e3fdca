import { idOfPath } from '../graph/graph-model.ts';
import type { NodePosition, NodeStatus, RunPosition } from '../graph/node-status.ts';
import type { Entry } from './timeline.ts';

/** The part of a timeline that a position is read from. */
export interface PositionSource {
  /** The entries from top to bottom. */
  rows: readonly { id: string }[];
  get(id: string): Entry | undefined;
}

const RANKS: Partial<Record<NodeStatus, number>> = { running: 2, interrupted: 1 };

/**
 * Returns where a run is in its graph. Of several tasks of a node those that go on count, then those that wait, then the
 * last.
 */
export function positionOf({ rows, get }: PositionSource, isRunning: boolean): RunPosition {
  const paths = new Map<string, readonly string[]>();
  const position = new Map<string, NodePosition>();
  for (const { id } of rows) {
    const entry = get(id);
    if (entry?.kind !== 'task') continue;
    const path = [...((entry.parent === undefined ? undefined : paths.get(entry.parent)) ?? []), entry.title];
    paths.set(id, path);
    const node = idOfPath(path);
    const known = position.get(node);
    const status = statusOf(entry, isRunning);
    const isOlder = known !== undefined && (RANKS[known.status] ?? 0) > (RANKS[status] ?? 0);
    position.set(node, { status: isOlder ? known.status : status, times: (known?.times ?? 0) + 1 });
  }
  return position;
}

function statusOf({ status }: Entry, isRunning: boolean): NodeStatus {
  if (status === 'error') return 'failed';
  if (status === 'waiting') return 'interrupted';
  if (status === 'success') return 'done';
  // A task of which no end is known goes on for as long as its run does.
  return isRunning ? 'running' : 'unfinished';
}

/** Returns whether two positions say the same. */
export function isSamePosition(one: RunPosition, other: RunPosition): boolean {
  if (one.size !== other.size) return false;
  for (const [id, { status, times }] of one) {
    const same = other.get(id);
    if (same?.status !== status || same.times !== times) return false;
  }
  return true;
}
