import type { A2aArtifact, A2aMessage, A2aTask, A2aTaskStatus } from '@runyard/contracts';
import { isFields } from '../../http/fields.ts';
import type { HistoryScope } from '../protocol/history-scope.ts';
import { partsOfContent } from './content-parts.ts';
import { isWholeAnswer } from './graph-signals.ts';
import { isAgent, lastAnswer, messagesIn, messagesOfTask, type StateMessage, toHistory } from './state-messages.ts';
import { isWaiting, type TaskRecord } from './task-record.ts';

/** The content of a task, beside its record. */
export interface TaskContent {
  /** The values of its newest run, or of its thread; undefined when there are none. */
  values: unknown;
  /** Messages of a run in flight that the values lack. */
  sent: StateMessage[];
}

export interface TaskViewOptions {
  /** The newest messages to show; 0 leaves the history out. */
  historyLength: number;
  historyScope: HistoryScope;
  withArtifacts: boolean;
}

/** Why a task ended whose client did not cancel it. */
const SUPERSEDED_TEXT = 'Its question was taken away: the context went on without an answer.';

export function toTask(record: TaskRecord, content: TaskContent, options: TaskViewOptions): A2aTask {
  const { taskId: id, contextId } = record;
  const artifacts = options.withArtifacts ? artifactsOf(record, content) : [];
  const history = options.historyLength > 0 ? historyOf(record, content, options.historyScope) : [];
  return {
    id,
    contextId,
    status: statusOf(record, content),
    ...(artifacts.length > 0 && { artifacts }),
    ...(history.length > 0 && { history: history.slice(-options.historyLength) }),
  };
}

/** Returns the status, with the error of a failed task and the question of one that waits. */
export function statusOf(record: TaskRecord, content: TaskContent): A2aTaskStatus {
  const { state, statusAt: timestamp } = record;
  const text = record.isSuperseded ? SUPERSEDED_TEXT : (failureOf(record) ?? questionOf(record, content));
  return { state, ...(text !== undefined && { message: agentMessage(record, text) }), timestamp };
}

/**
 * Returns what the task has brought forth: the agent's answer, or the whole state of a graph without messages; while it
 * waits, the interrupts.
 */
export function artifactsOf(record: TaskRecord, { values }: TaskContent): A2aArtifact[] {
  if (isWaiting(record)) {
    return interruptsIn(values).map((interrupt, index) => ({
      artifactId: typeof interrupt.id === 'string' ? interrupt.id : `${record.runId}-${index}`,
      name: 'Interrupt',
      parts: [{ data: interrupt }],
    }));
  }
  if (record.state !== 'TASK_STATE_COMPLETED') return [];
  const messages = messagesIn(values);
  const parts = messages ? lastAnswer(messagesOfTask(messages, record.taskId, record.isNewest)) : dataOf(values);
  return parts ? [responseArtifact(record, parts)] : [];
}

/** Returns the message that is the whole answer, where the graph asks for that; undefined for others. */
export function wholeAnswer(
  { taskId, contextId, runId, isNewest, state }: TaskRecord,
  { values }: TaskContent,
): A2aMessage | undefined {
  if (state !== 'TASK_STATE_COMPLETED') return undefined;
  const said = messagesOfTask(messagesIn(values) ?? [], taskId, isNewest).findLast(isAgent);
  const parts = said && isWholeAnswer(said) ? partsOfContent(said.content) : [];
  if (parts.length === 0) return undefined;
  const messageId = typeof said?.id === 'string' && said.id !== '' ? said.id : `${runId}-message`;
  return { messageId, role: 'ROLE_AGENT', parts, contextId };
}

/** Returns the artifact of an answer, whole or in parts as it comes: its id is the same in both. */
export function responseArtifact({ runId }: Pick<TaskRecord, 'runId'>, parts: A2aArtifact['parts']): A2aArtifact {
  return { artifactId: runId, name: 'Assistant Response', parts };
}

function historyOf(
  { taskId, contextId, isNewest }: TaskRecord,
  content: TaskContent,
  scope: HistoryScope,
): A2aMessage[] {
  const known = messagesIn(content.values) ?? [];
  const own = scope === 'context' ? known : messagesOfTask(known, taskId, isNewest && content.sent.length === 0);
  const ids = new Set(own.map(({ id }) => id));
  return toHistory([...own, ...content.sent.filter(({ id }) => !ids.has(id))], { contextId, taskId });
}

function dataOf(values: unknown): A2aArtifact['parts'] | undefined {
  if (values === undefined || values === null) return undefined;
  if (!isFields(values)) return [{ data: values }];
  const { __interrupt__: _, ...data } = values;
  return [{ data }];
}

function interruptsIn(values: unknown): Record<string, unknown>[] {
  const interrupts = isFields(values) ? values.__interrupt__ : undefined;
  if (!Array.isArray(interrupts)) return [];
  return interrupts.filter(isFields).map(({ id, value, response_schema: schema }) => ({
    id,
    value,
    ...(schema !== undefined && { response_schema: schema }),
  }));
}

function questionOf(record: TaskRecord, { values }: TaskContent): string | undefined {
  if (!isWaiting(record)) return undefined;
  const texts = interruptsIn(values).map(({ value }) => (isFields(value) ? value.message : value));
  const said = texts.filter((text) => typeof text === 'string' && text !== '');
  return said.length > 0 ? said.join('\n') : undefined;
}

function failureOf({ state, error }: TaskRecord): string | undefined {
  // The message of a rejection is for the client; its name only says that it is one.
  if (state === 'TASK_STATE_REJECTED') return error?.message || undefined;
  if (state !== 'TASK_STATE_FAILED') return undefined;
  return error ? `${error.error}: ${error.message}` : 'The run failed';
}

function agentMessage({ runId, taskId, contextId }: TaskRecord, text: string): A2aMessage {
  return { messageId: `${runId}-status`, role: 'ROLE_AGENT', parts: [{ text }], contextId, taskId };
}
