import type { ThreadState } from '@runyard/contracts';
import { type Entry, type Timeline, taskOf } from './timeline.ts';
import { checkpointEntry, errorText, interruptEntry, putInterrupt } from './timeline-entries.ts';
import { addResultMessages } from './timeline-messages.ts';

/** The fields of states that a timeline is made of: all but the values. */
export const HISTORY_FIELDS = ['checkpoint', 'parent_checkpoint', 'metadata', 'created_at', 'tasks'] as const;
export type HistoryState = Pick<ThreadState, (typeof HISTORY_FIELDS)[number]>;
type HistoryTask = HistoryState['tasks'][number];

/**
 * Adds states of one graph, in any order. `next` is the state after the newest of them, where there is one: what a task
 * wrote stands there, also where it was interrupted before.
 *
 * @returns the namespaces of the graphs inside that ran
 */
export function applyStates(timeline: Timeline, states: readonly HistoryState[], next?: HistoryState): string[] {
  const inner: string[] = [];
  const oldestFirst = [...states].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  oldestFirst.forEach((state, index) => {
    const after = oldestFirst[index + 1] ?? next;
    inner.push(...applyState(timeline, state, after));
  });
  return inner;
}

function idOf({ checkpoint }: HistoryState): string {
  return checkpoint?.checkpoint_id ?? '';
}

function applyState(timeline: Timeline, state: HistoryState, after: HistoryState | undefined): string[] {
  const { checkpoint, metadata, created_at: createdAt, tasks } = state;
  if (!checkpoint?.checkpoint_id) return [];
  const namespace = checkpoint.checkpoint_ns ?? '';
  const at = createdAt === null ? 0 : Date.parse(createdAt);
  const parent = taskOf(timeline, namespace === '' ? [] : namespace.split('|'), at);
  const { step, source } = metadata ?? {};
  const made = { id: checkpoint.checkpoint_id, namespace, step, source, parent, at, metadata };
  const entry = checkpointEntry(made, timeline);
  timeline.put(entry);
  const inner: string[] = [];
  tasks.forEach((task, index) => {
    // Every graph begins with it, and it does nothing that people have written.
    if (task.name === '__start__') return;
    applyTask(timeline, task, [entry.order[0], 1 + index], parent, after);
    const ownNamespace = [namespace, `${task.name}:${task.id}`].filter(Boolean).join('|');
    // A task that failed does not say whether it had a graph inside.
    const innerNamespace = task.checkpoint?.checkpoint_ns ?? (task.error ? ownNamespace : undefined);
    if (innerNamespace) inner.push(innerNamespace);
  });
  return inner;
}

function applyTask(
  timeline: Timeline,
  task: HistoryTask,
  order: Entry['order'],
  parent: string | undefined,
  after: HistoryState | undefined,
): void {
  const id = `task:${task.id}`;
  const known = timeline.get(id);
  const writes = (after?.metadata?.writes ?? {}) as Record<string, unknown>;
  const output = task.result ?? writes[task.name];
  const { error } = task;
  const isWaiting = task.interrupts.length > 0 && !after;
  const status = error
    ? 'error'
    : isWaiting
      ? 'waiting'
      : after || task.result
        ? 'success'
        : (known?.status ?? 'running');
  const isOlderThanEvents = known?.endedAt !== undefined && (known.status === 'success' || known.status === 'error');
  const result = error ? { error: known?.details.error ?? error } : output == null ? {} : { output };
  timeline.put({
    ...known,
    id,
    kind: 'task',
    title: task.name,
    parent,
    order,
    status: isOlderThanEvents ? known.status : status,
    text: error ? (known?.text ?? errorText(error)) : known?.text,
    details: { ...known?.details, ...result },
  });
  const entry = timeline.get(id)!;
  // A graph inside answers with its whole state, of which its own tasks have made the parts.
  if (!task.checkpoint) addResultMessages(timeline, entry, output);
  for (const interrupt of task.interrupts) {
    const made = interruptEntry(interrupt.id ?? id, interrupt.value, id, order[0]);
    const before = timeline.get(made.id);
    const place = before?.parent === id ? before.order : made.order;
    putInterrupt(timeline, { ...made, order: place, status: isWaiting ? 'waiting' : 'success' });
  }
}
