/** Shapes of a thread's state: as the graph host returns it, as clients see it, and as it is stored with the thread. */
import type { ThreadState } from '@runyard/contracts';
import { JsonText, sanitizeErrorText, toJsonBytes } from '@runyard/service-kit';
import { toWireTime } from '../http/wire-time.ts';
import type { CheckpointPosition } from './checkpoint-position.ts';

/** Returns a state as it is stored with its thread. */
export function storedState(state: ThreadState) {
  return {
    values: toJsonBytes(state.values ?? null),
    interrupts: interruptsOf(state),
    checkpointId: String(state.checkpoint_id),
  };
}

/** Returns a state of the graph host for code that looks into `values` and `metadata.writes`. */
export function withParsedTexts(state: ThreadState): ThreadState {
  const { metadata } = state;
  return {
    ...state,
    values: parseText(state.values) as ThreadState['values'],
    metadata: metadata && 'writes' in metadata ? { ...metadata, writes: parseText(metadata.writes) } : metadata,
  };
}

export function parseText(value: unknown): unknown {
  return value instanceof JsonText ? value.parse() : value;
}

/** Returns the state of a thread that never ran, or of an unknown checkpoint. */
export function emptyState(threadId: string, { checkpointId, checkpointNs }: CheckpointPosition): ThreadState {
  return {
    values: {},
    next: [],
    tasks: [],
    metadata: null,
    created_at: null,
    checkpoint:
      checkpointId === undefined
        ? null
        : { thread_id: threadId, checkpoint_ns: checkpointNs ?? '', checkpoint_id: checkpointId },
    parent_checkpoint: null,
    interrupts: [],
    checkpoint_id: checkpointId ?? null,
    parent_checkpoint_id: null,
  };
}

/**
 * Converts a state of the graph host to the wire's times. Errors of tasks are stored as the graph threw them; readers
 * see no credentials and no inner addresses.
 */
export function toWireState(state: ThreadState): ThreadState {
  const tasks = state.tasks.map((task) => ({
    ...task,
    ...(task.error && { error: sanitizeErrorText(task.error) }),
    ...(task.state ? { state: toWireState(task.state as ThreadState) } : {}),
  }));
  const createdAt = state.created_at === null ? Number.NaN : Date.parse(state.created_at);
  return { ...state, tasks, ...(!Number.isNaN(createdAt) && { created_at: toWireTime(new Date(createdAt)) }) };
}

function interruptsOf(state: ThreadState): Uint8Array | null {
  const asking = state.tasks.filter((task) => task.interrupts.length > 0);
  if (asking.length === 0) return null;
  return toJsonBytes(Object.fromEntries(asking.map((task) => [task.id, task.interrupts])));
}
