/** Converts the runtime's reports on steps, tasks and checkpoints into the form that clients know. */
import { withIds } from '../langgraph/interrupt-id.ts';
import type { TaskErrors } from './task-errors.ts';

export interface DebugChunk {
  step: number;
  timestamp: string;
  type: string;
  payload: Record<string, unknown>;
}

export function debugEvent(chunk: DebugChunk, errors: TaskErrors): unknown {
  if (chunk.type !== 'checkpoint') return { ...chunk, payload: taskEvent(chunk.payload, errors) };
  const payload = checkpointEvent(chunk.payload) as Record<string, unknown>;
  return {
    ...chunk,
    payload: {
      ...payload,
      checkpoint: checkpointOf(chunk.payload.config),
      parent_checkpoint: checkpointOf(chunk.payload.parentConfig),
    },
  };
}

export function isSnapshot(payload: unknown): payload is Record<string, unknown> {
  return typeof payload === 'object' && payload !== null && 'config' in payload;
}

export function checkpointEvent({
  config,
  parentConfig,
  values,
  metadata,
  next,
  tasks,
}: Record<string, unknown>): unknown {
  return {
    config: publicConfig(config),
    parent_config: parentConfig === undefined ? null : publicConfig(parentConfig),
    values,
    metadata,
    next,
    tasks: Array.isArray(tasks) ? tasks.map(checkpointTask) : [],
  };
}

/** Moves the checkpoint of a subgraph's task from `state`, where the runtime has it, to `checkpoint`. */
function checkpointTask({ state, ...task }: Record<string, unknown>): unknown {
  return {
    ...task,
    interrupts: withIds(task.interrupts),
    error: task.error ?? null,
    checkpoint: checkpointOf(state),
    state: null,
  };
}

export function taskEvent(task: Record<string, unknown>, errors: TaskErrors): unknown {
  const interrupts = withIds(task.interrupts);
  if (!('result' in task)) return { ...task, interrupts };
  return { ...task, interrupts, error: task.error ?? errors.of(task.id) };
}

function isSnapshotConfig(value: unknown): value is { configurable: Record<string, unknown> } {
  return typeof value === 'object' && value !== null && 'configurable' in value;
}

/**
 * Returns `{thread_id, checkpoint_ns, checkpoint_id}` of a runnable config, null when it names no thread. Without
 * `checkpoint_id` the newest checkpoint of the namespace is meant. The `checkpoint_map` of a subgraph has the
 * checkpoints of the graphs around it.
 */
export function checkpointOf(config: unknown): Record<string, unknown> | null {
  if (!isSnapshotConfig(config) || config.configurable?.thread_id === undefined) return null;
  const { thread_id, checkpoint_id, checkpoint_ns, checkpoint_map } = config.configurable;
  return {
    ...(checkpoint_id !== undefined && { checkpoint_id }),
    thread_id,
    checkpoint_ns: checkpoint_ns ?? '',
    ...(checkpoint_map !== undefined && { checkpoint_map }),
  };
}

/** Returns a config without the runtime's own objects and without what identifies the caller. */
function publicConfig(config: unknown): unknown {
  if (!isSnapshotConfig(config)) return config ?? null;
  const { callbacks: _callbacks, ...rest } = config as unknown as Record<string, unknown>;
  const configurable = Object.fromEntries(
    Object.entries(config.configurable).filter(([key]) => !/^(__|langgraph_auth_|svc_)/.test(key)),
  );
  return { ...rest, configurable };
}
