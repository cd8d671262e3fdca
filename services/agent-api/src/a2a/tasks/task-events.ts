import type { A2aStreamEvent } from '@runyard/contracts';
import type { Scope } from '../../access/scope.ts';
import { isFields } from '../../http/fields.ts';
import { awaitNextRun } from '../../streams/await-next-run.ts';
import { type FollowedEntry, type FollowRunOptions, followRun } from '../../streams/follow-run.ts';
import { A2aError } from '../protocol/a2a-error.ts';
import { partsOfContent } from './content-parts.ts';
import { isAgent } from './state-messages.ts';
import type { TaskReader } from './task-reader.ts';
import { isInFlight, isWaiting, type TaskRecord } from './task-record.ts';
import { artifactsOf, responseArtifact, statusOf } from './task-view.ts';

/** The stream mode of the runs of tasks: what the agent says, as it says it. */
export const TASK_STREAM_MODE = 'messages-tuple';

export interface TaskEventSources extends Pick<FollowRunOptions, 'streams' | 'watch' | 'ends'> {
  reader: Pick<TaskReader, 'require' | 'contentOf'>;
}

/** The place of a reader in the events of a task. */
export interface EventPosition {
  /** The run whose events were sent last. */
  runId?: string | undefined;
  /** The id of the last of them. */
  afterId?: string | undefined;
  /** The message whose parts are being sent. */
  messageId?: string | undefined;
  /** The run whose question the reader had before it began to read: it waits for what comes of the answer. */
  askedRunId?: string | undefined;
}

export interface FollowTask {
  scope: Scope;
  assistantId: string;
  task: TaskRecord;
  signal: AbortSignal;
}

/**
 * Yields what happens to a task from the beginning of its run in flight until it has ended or needs input, the same for
 * every reader in any process. A reader that knows its question gets what comes after that, however long it takes. The
 * answer comes in parts as it is written, and whole at the end: readers that lost a part replace what they have. Goes on
 * after the position, and keeps it: it is that of the last event. Ends early at the signal. @throws A2aError when the
 * task is deleted
 */
export async function* followTask(
  sources: TaskEventSources,
  { scope, assistantId, task, signal }: FollowTask,
  position: EventPosition,
): AsyncGenerator<A2aStreamEvent, void, undefined> {
  const asking = { scope, assistantId, task };
  const isAsked = position.askedRunId === task.runId && isWaiting(task);
  let current = isAsked ? await untilAnswered(sources, asking, signal) : task;
  if (signal.aborted) return;
  // The run may have ended while another process took the stream over: the rest of its events is due all the same.
  let isDue = position.runId === task.runId;
  while (isInFlight(current) || isDue) {
    isDue = false;
    yield* runEvents(sources, current, signal, position);
    if (signal.aborted) return;
    current = await findTask(sources, asking);
  }
  const { taskId, contextId } = current;
  const content = await sources.reader.contentOf(scope, current, signal);
  if (!content) return;
  for (const artifact of artifactsOf(current, content)) {
    yield { artifactUpdate: { taskId, contextId, artifact, append: false, lastChunk: true } };
  }
  yield { statusUpdate: { taskId, contextId, status: statusOf(current, content) } };
}

/** Returns the task when no run of it is in flight, or at the signal as it is then; undefined when it was deleted. */
export async function untilSettled(sources: TaskEventSources, follow: FollowTask): Promise<TaskRecord | undefined> {
  let current: TaskRecord | undefined = follow.task;
  while (current && isInFlight(current)) {
    for await (const _ of followRun(runOf(sources, current, follow.signal))) {
      // Only its end counts.
    }
    current = await findTask(sources, follow).catch(ignoreMissing);
    if (follow.signal.aborted) break;
  }
  return current;
}

async function* runEvents(
  sources: TaskEventSources,
  task: TaskRecord,
  signal: AbortSignal,
  position: EventPosition,
): AsyncGenerator<A2aStreamEvent, void, undefined> {
  const { taskId, contextId, runId } = task;
  if (position.runId !== runId) Object.assign(position, { runId, afterId: undefined, messageId: undefined });
  const { afterId } = position;
  for await (const entry of followRun({ ...runOf(sources, task, signal), afterId, isEnded: !isInFlight(task) })) {
    position.afterId = entry.id ?? position.afterId;
    if (entry.kind === 'metadata') {
      position.messageId = undefined;
      const timestamp = new Date().toISOString();
      yield { statusUpdate: { taskId, contextId, status: { state: 'TASK_STATE_WORKING', timestamp } } };
    }
    const said = messageIn(entry);
    if (!said) continue;
    const append = position.messageId !== undefined && said.id === position.messageId;
    position.messageId = said.id;
    yield {
      artifactUpdate: { taskId, contextId, artifact: responseArtifact(task, said.parts), append, lastChunk: false },
    };
  }
}

function runOf({ streams, watch, ends }: TaskEventSources, { contextId, runId }: TaskRecord, signal: AbortSignal) {
  return { streams, watch, ends, threadId: contextId, runId, signal };
}

/** Returns a piece of what the agent says at the top of the graph; undefined for anything else. */
function messageIn({ kind, event, data }: FollowedEntry) {
  if (kind !== TASK_STREAM_MODE || event !== 'messages') return undefined;
  const [message] = JSON.parse(data) as unknown[];
  if (!isFields(message) || !isAgent(message)) return undefined;
  const parts = partsOfContent(message.content);
  const id = typeof message.id === 'string' ? message.id : undefined;
  return parts.length > 0 ? { id, parts } : undefined;
}

/**
 * Waits until a task that asks goes on or ends, and returns it; at the signal as it is. @throws A2aError when it is
 * deleted
 */
async function untilAnswered(
  sources: TaskEventSources,
  asking: Omit<FollowTask, 'signal'>,
  signal: AbortSignal,
): Promise<TaskRecord> {
  const { contextId: threadId, runId } = asking.task;
  const look = async () => {
    const task = await findTask(sources, asking).catch(ignoreMissing);
    if (!task) return 'ended' as const;
    if (task.runId !== runId) return { runId: task.runId };
    return isWaiting(task) ? undefined : ('ended' as const);
  };
  await awaitNextRun(sources, { threadId, runId, afterId: undefined }, { look, signal });
  return signal.aborted ? asking.task : findTask(sources, asking);
}

/** @throws A2aError when it is deleted */
function findTask({ reader }: TaskEventSources, { scope, assistantId, task }: Omit<FollowTask, 'signal'>) {
  return reader.require(scope, assistantId, task.taskId);
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof A2aError)) throw error;
  return undefined;
}
