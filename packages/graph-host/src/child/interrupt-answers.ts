/**
 * Interrupts that wait at a checkpoint, and the answers given to them. An answer goes with each attempt of the run that it was given
 * to, by the id of its interrupt: a checkpoint shows the graph only what its tasks had been answered before that run.
 */
import { isDeepStrictEqual } from 'node:util';
import type { PendingWrite, SerializedValue, StoredCheckpoint } from '@runyard/checkpointer/graph-process';

/** Reads a stored value with the project's own serializer. */
export type Load = (value: SerializedValue) => Promise<unknown>;

const ERROR = '__error__';
const INTERRUPT = '__interrupt__';
const RESUME = '__resume__';
/** The release before this one kept track of a run's answer with a write of its own. */
const FORMER_MARKER = '__runyard_resume__';
/** The task of an answer that names no interrupt. */
const NO_TASK = '00000000-0000-0000-0000-000000000000';

/**
 * The checkpoint as the graph may see it. An answer that LangGraph noted as given, under no task's id, would be taken by the
 * next interrupt that is reached.
 */
export function withoutGivenAnswers({ interruptsBeforeRun, ...stored }: StoredCheckpoint): StoredCheckpoint {
  const { pendingWrites } = stored;
  const taken = (interruptsBeforeRun ?? pendingWrites).filter((write) => write.channel === RESUME && !isGiven(write));
  const others = pendingWrites.filter(({ channel }) => channel !== RESUME && channel !== FORMER_MARKER);
  return { ...stored, pendingWrites: [...others, ...taken] };
}

/**
 * An answer to all that is asked is named by the interrupts it answers. LangGraph would look for it by its truth, so that `false`, `0`
 * and an empty text were none, and would give it to the next interrupt of a subgraph too when the run is attempted again.
 */
export async function nameAnswer(resume: unknown, stored: StoredCheckpoint | undefined, load: Load): Promise<unknown> {
  if (resume === null || namesInterrupts(resume)) return resume;
  const waiting = await interruptsAt(stored, load);
  return waiting.length === 0 ? resume : Object.fromEntries(waiting.map(({ id }) => [id, resume]));
}

/** Answers that an earlier run was given at the checkpoint for tasks that failed before they took them. Undefined for none. */
export async function untakenAnswers(stored: StoredCheckpoint | undefined, load: Load): Promise<unknown> {
  const failed = new Set(stored?.pendingWrites.filter(({ channel }) => channel === ERROR).map(({ taskId }) => taskId));
  if (stored === undefined || failed.size === 0) return undefined;
  const given = new Map<string, unknown>();
  const taken = new Map<string, unknown>();
  for (const write of interruptWrites(stored, RESUME)) {
    const last = [await load(write.value)].flat().at(-1);
    (isGiven(write) ? given : taken).set(write.taskId, last);
  }
  const waiting = (await interruptsAt(stored, load)).filter(({ taskId }) => failed.has(taskId));
  const untaken = waiting.filter(
    ({ id, taskId }) => given.has(id) && !(taken.has(taskId) && isDeepStrictEqual(taken.get(taskId), given.get(id))),
  );
  if (untaken.length > 0) return Object.fromEntries(untaken.map(({ id }) => [id, given.get(id)]));
  return taken.size === 0 ? given.get(NO_TASK) : undefined;
}

async function interruptsAt(
  stored: StoredCheckpoint | undefined,
  load: Load,
): Promise<{ id: string; taskId: string }[]> {
  const found = [];
  for (const { taskId, value } of stored ? interruptWrites(stored, INTERRUPT) : []) {
    for (const interrupt of [await load(value)].flat() as ({ id?: string } | null)[]) {
      if (interrupt?.id !== undefined) found.push({ id: interrupt.id, taskId });
    }
  }
  return found;
}

function interruptWrites({ interruptsBeforeRun, pendingWrites }: StoredCheckpoint, channel: string): PendingWrite[] {
  return (interruptsBeforeRun ?? pendingWrites).filter((write) => write.channel === channel);
}

/** Answers are given under the id of an interrupt, or under none, and taken under that of a task. */
function isGiven({ taskId }: PendingWrite): boolean {
  return taskId === NO_TASK || isInterruptId(taskId);
}

/** LangGraph's own test of a resume that is a map: every key is the id of an interrupt. */
function namesInterrupts(resume: unknown): boolean {
  if (typeof resume !== 'object' || resume === null) return false;
  const keys = Object.keys(resume);
  return keys.length > 0 && keys.every(isInterruptId);
}

function isInterruptId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}
