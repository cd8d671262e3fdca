/** Converts LangGraph's state snapshots into the `ThreadState` of the wire. */
import { checkpointOf } from '../events/step-events.ts';
import type { GraphConfig, StateSnapshot, StateTask } from '../langgraph/graph-types.ts';
import { withIds } from '../langgraph/interrupt-id.ts';

export interface ThreadStateOptions {
  graphId: string;
  /** The writes of the step that led to the snapshot, by node. */
  writes: Record<string, unknown>;
}

export function threadState(snapshot: StateSnapshot, options: ThreadStateOptions): Record<string, unknown> {
  const checkpoint = checkpointOf(snapshot.config);
  const parentCheckpoint = checkpointOf(snapshot.parentConfig);
  const exists = snapshot.createdAt !== undefined;
  return {
    values: snapshot.values ?? {},
    next: snapshot.next,
    tasks: snapshot.tasks.map((task) => taskState(task, options)),
    metadata: exists ? stateMetadata(snapshot, checkpoint, options) : {},
    created_at: snapshot.createdAt ?? null,
    checkpoint,
    parent_checkpoint: parentCheckpoint,
    interrupts: snapshot.tasks.flatMap((task) => withIds(task.interrupts)),
    checkpoint_id: checkpoint?.checkpoint_id ?? null,
    parent_checkpoint_id: parentCheckpoint?.checkpoint_id ?? null,
  };
}

function stateMetadata(
  snapshot: StateSnapshot,
  checkpoint: Record<string, unknown> | null,
  { graphId, writes }: ThreadStateOptions,
): Record<string, unknown> {
  const metadata = snapshot.metadata ?? {};
  return {
    ...metadata,
    thread_id: checkpoint?.thread_id ?? null,
    checkpoint_id: checkpoint?.checkpoint_id ?? null,
    graph_id: metadata.graph_id ?? graphId,
    source: metadata.source ?? null,
    step: metadata.step ?? null,
    parents: metadata.parents ?? {},
    writes: metadata.writes ?? writes,
  };
}

function taskState(task: StateTask, options: ThreadStateOptions): Record<string, unknown> {
  const nested = task.state as Partial<StateSnapshot> & GraphConfig;
  const isSnapshot = nested !== undefined && 'next' in nested && 'config' in nested;
  return {
    id: task.id,
    name: task.name,
    path: task.path ?? null,
    error: taskError(task.error),
    interrupts: withIds(task.interrupts),
    checkpoint: isSnapshot ? null : checkpointOf(nested),
    state: isSnapshot ? threadState(nested as StateSnapshot, { ...options, writes: {} }) : null,
    result: task.result ?? null,
  };
}

function taskError(error: unknown): string | null {
  if (error === undefined || error === null) return null;
  if (typeof error !== 'object') return String(error);
  const { name, message } = error as { name?: string; message?: string };
  return `${name ?? 'Error'}('${message ?? ''}')`;
}
