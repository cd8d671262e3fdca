/**
 * Which run's answer to an interrupt has been stored. A resume is a pending write on a checkpoint that an earlier run made, so the
 * checkpoint does not tell whether this run's resume has been applied; applied twice, it would also answer the next
 * interrupt of the same node. A write of our own, stored in one piece with the resume and taken out again on reading, tells.
 */
import type { PendingWrite, SerializedValue, StoredCheckpoint, WritesPut } from '@runyard/checkpointer/graph-process';

const MARKER_CHANNEL = '__runyard_resume__';
/** Apart from LangGraph's own special indexes; negative, so that a later marker replaces an earlier one. */
const MARKER_INDEX = -100;
const RESUME = '__resume__';
const INTERRUPT = '__interrupt__';
const NO_TASK = '00000000-0000-0000-0000-000000000000';

interface Marker {
  runId: string;
  /** How many interrupts each task had been answered when the resume was stored. */
  answered: Record<string, number>;
}

/** @param before the pending writes the run found when it began */
export function withMarker(put: WritesPut, runId: string, before: PendingWrite[]): WritesPut {
  const marker: Marker = { runId, answered: Object.fromEntries(answeredCounts(before)) };
  const value = { type: 'json', data: Buffer.from(JSON.stringify(marker)) };
  return { ...put, writes: [...put.writes, { index: MARKER_INDEX, channel: MARKER_CHANNEL, value }] };
}

export function isResume(put: WritesPut): boolean {
  return put.writes.some(({ channel }) => channel === RESUME);
}

/**
 * The checkpoint as the graph may see it. A resume that names no interrupt stays among the pending writes after a task has taken
 * it, and would answer that task's next interrupt when the run goes on without a new one: then it is left out too.
 */
export function withoutMarkers(stored: StoredCheckpoint): StoredCheckpoint {
  const { pendingWrites } = stored;
  const marker = pendingWrites.findLast(isMarker);
  if (marker === undefined) return stored;
  const { answered } = parse(marker.value) as Marker;
  const isTaken = [...answeredCounts(pendingWrites)].some(([task, count]) => count > (answered[task] ?? 0));
  return {
    ...stored,
    pendingWrites: pendingWrites.filter((write) => !isMarker(write) && !(isTaken && isUnnamedResume(write))),
  };
}

/**
 * What is left to resume with when a run is attempted again: everything when its resume is not stored yet, and otherwise
 * only the answers (of a resume that names several interrupts) which their tasks have not taken. Undefined for nothing.
 */
export function remainingResume(resume: unknown, runId: string, stored: StoredCheckpoint | undefined): unknown {
  const marker = stored?.pendingWrites
    .filter(isMarker)
    .map(({ value }) => parse(value) as Marker)
    .find((candidate) => candidate.runId === runId);
  if (stored === undefined || marker === undefined) return resume;
  if (!namesInterrupts(resume)) return undefined;
  const answered = answeredCounts(stored.pendingWrites);
  const taskOf = tasksByInterrupt(stored.pendingWrites);
  const left = Object.entries(resume).filter(([interruptId]) => {
    const task = taskOf.get(interruptId);
    return task === undefined || (answered.get(task) ?? 0) <= (marker.answered[task] ?? 0);
  });
  return left.length > 0 ? Object.fromEntries(left) : undefined;
}

/**
 * The answer in the form LangGraph takes: it looks for one by its truth, so that `false`, `0` and an empty text count only when
 * they name the interrupt they answer.
 */
export function namedAnswer(resume: unknown, stored: StoredCheckpoint | undefined): unknown {
  if (resume !== false && resume !== 0 && resume !== '') return resume;
  const [interruptId] = tasksByInterrupt(stored?.pendingWrites ?? []).keys();
  return interruptId === undefined ? resume : { [interruptId]: resume };
}

function isMarker({ channel }: PendingWrite): boolean {
  return channel === MARKER_CHANNEL;
}

function isUnnamedResume({ taskId, channel }: PendingWrite): boolean {
  return taskId === NO_TASK && channel === RESUME;
}

/** LangGraph's own test of a resume that is a map: every key is the id of an interrupt. */
function namesInterrupts(resume: unknown): resume is Record<string, unknown> {
  if (typeof resume !== 'object' || resume === null) return false;
  const keys = Object.keys(resume);
  return keys.length > 0 && keys.every((key) => /^[0-9a-f]{32}$/.test(key));
}

function answeredCounts(writes: PendingWrite[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { taskId, channel, value } of writes) {
    if (channel !== RESUME || taskId === NO_TASK) continue;
    const answers = parse(value);
    counts.set(taskId, Array.isArray(answers) ? answers.length : 1);
  }
  return counts;
}

function tasksByInterrupt(writes: PendingWrite[]): Map<string, string> {
  const tasks = new Map<string, string>();
  for (const { taskId, channel, value } of writes) {
    if (channel !== INTERRUPT) continue;
    for (const interrupt of [parse(value)].flat() as ({ id?: string } | null)[]) {
      if (interrupt?.id !== undefined) tasks.set(interrupt.id, taskId);
    }
  }
  return tasks;
}

/** Resumes and interrupts come from clients as JSON and are stored as JSON; anything else is not looked into. */
function parse({ type, data }: SerializedValue): unknown {
  return type === 'json' ? JSON.parse(Buffer.from(data).toString('utf8')) : undefined;
}
