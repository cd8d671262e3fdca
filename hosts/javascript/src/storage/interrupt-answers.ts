/**
 * Matches interrupts that wait at a checkpoint with their answers. Every attempt of the run gets the run's answers, by
 * the ids of their interrupts; from the checkpoint, the graph sees only the answers that its tasks had before that run.
 */
import { isDeepStrictEqual } from 'node:util';
import type { PendingWrite, SerializedValue, StoredCheckpoint } from '@runyard/checkpointer/graph-process';
import { idOfInterrupt, isWithoutId } from '../langgraph/interrupt-id.ts';

/** Deserializes a stored value with the project's own serializer. */
export type Deserialize = (value: SerializedValue) => Promise<unknown>;

const ERROR = '__error__';
const INTERRUPT = '__interrupt__';
const RESUME = '__resume__';
/** The channel with which the previous release recorded a run's answer. */
const FORMER_MARKER = '__runyard_resume__';
/** The task id that LangGraph stores an answer under when it names no interrupt. */
const NO_TASK = '00000000-0000-0000-0000-000000000000';
const INTERRUPT_ID = /^[0-9a-f]{32}$/;
/** The answers in a map of a line before 0.4 are named by their tasks. */
const TASK_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An answer that is given to the task that asked, in the namespace of the graph that the task belongs to. */
export interface TaskAnswer {
  namespace: string;
  taskId: string;
  value: unknown;
}

/** Returns whether a graph asks something by one of these writes. */
export function areAsking(writes: readonly { channel: string }[]): boolean {
  return writes.some(({ channel }) => channel === INTERRUPT);
}

/**
 * Removes the answers that must not reach the graph. The next interrupt would take an answer that LangGraph stored
 * under no task's id.
 */
export function withoutGivenAnswers({ interruptsBeforeRun, ...stored }: StoredCheckpoint): StoredCheckpoint {
  const { pendingWrites } = stored;
  const taken = (interruptsBeforeRun ?? pendingWrites).filter((write) => write.channel === RESUME && !isGiven(write));
  const others = pendingWrites.filter(({ channel }) => channel !== RESUME && channel !== FORMER_MARKER);
  return { ...stored, pendingWrites: [...others, ...taken] };
}

/**
 * Keys an answer to all waiting interrupts by their ids. LangGraph checks a plain answer for truth, so it would miss
 * `false`, `0` and an empty text; and in a repeated attempt it would give the answer to the next interrupt of a
 * subgraph too.
 */
export async function keyAnswerByInterrupt(
  resume: unknown,
  stored: StoredCheckpoint | undefined,
  load: Deserialize,
): Promise<unknown> {
  if (resume === null || isResumeMap(resume)) return resume;
  const waiting = await interruptsAt(stored, load);
  return waiting.length === 0 ? resume : Object.fromEntries(waiting.map(({ id }) => [id, resume]));
}

/**
 * Returns the answers for the tasks that asked; undefined when an interrupt that waits has an id of LangGraph's own, or
 * none waits. Lines before 0.4 take no answers by the ids of interrupts, and would give a plain one to whichever task asks
 * first: in a repeated attempt, to another than it was meant for.
 */
export async function answersByTask(
  resume: unknown,
  stored: StoredCheckpoint | undefined,
  load: Deserialize,
): Promise<TaskAnswer[] | undefined> {
  const waiting: { id: string; taskId: string; namespace: string; askedBy: string }[] = [];
  for (const { taskId, value } of stored ? interruptWrites(stored, INTERRUPT) : []) {
    for (const interrupt of [await load(value)].flat()) {
      if (!isWithoutId(interrupt)) return undefined;
      const askedBy = interrupt.ns.at(-1)?.split(':').at(-1) ?? '';
      const namespace = interrupt.ns.slice(0, -1).join('|');
      waiting.push({ id: idOfInterrupt(interrupt), taskId, namespace, askedBy });
    }
  }
  if (waiting.length === 0) return undefined;
  const named = isResumeMap(resume) || isMapOf(resume, TASK_ID) ? (resume as Record<string, unknown>) : undefined;
  return waiting.flatMap(({ id, taskId, namespace, askedBy }) => {
    if (named === undefined) return { namespace, taskId: askedBy, value: resume };
    const name = [id, askedBy, taskId].find((each) => each in named);
    return name === undefined ? [] : { namespace, taskId: askedBy, value: named[name] };
  });
}

/**
 * Returns the answers that an earlier run got at the checkpoint for tasks that failed before they took them; undefined
 * for none.
 */
export async function findUntakenAnswers(stored: StoredCheckpoint | undefined, load: Deserialize): Promise<unknown> {
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
  load: Deserialize,
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

/**
 * Returns whether the write is an answer as given, which has the id of an interrupt or none. An answer that was taken
 * has the id of a task.
 */
function isGiven({ taskId }: PendingWrite): boolean {
  return taskId === NO_TASK || isInterruptId(taskId);
}

/** Returns whether the resume value is a map, by LangGraph's own test: every key is the id of an interrupt. */
function isResumeMap(resume: unknown): boolean {
  return isMapOf(resume, INTERRUPT_ID);
}

function isMapOf(value: unknown, form: RegExp): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => form.test(key));
}

function isInterruptId(text: string): boolean {
  return INTERRUPT_ID.test(text);
}
