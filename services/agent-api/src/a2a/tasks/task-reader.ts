import { type A2aStreamEvent, type A2aTask, isUuid } from '@runyard/contracts';
import type { RunEngine } from '@runyard/run-engine';
import type { ByteBudget } from '@runyard/service-kit';
import type { Scope } from '../../access/scope.ts';
import { isFields } from '../../http/fields.ts';
import { holdContent } from '../../runs/run-results.ts';
import { parseStoredJson } from '../../threads/parse-stored-json.ts';
import type { ThreadStore } from '../../threads/thread-store.ts';
import { taskNotFound } from '../protocol/a2a-error.ts';
import { ContentRoom } from './content-room.ts';
import { messagesIn, type StateMessage } from './state-messages.ts';
import { isInFlight, isWaiting, type TaskRecord } from './task-record.ts';
import type { TaskStore } from './task-store.ts';
import { type TaskContent, type TaskViewOptions, toTask, wholeAnswer } from './task-view.ts';

export interface TaskReaderOptions {
  tasks: Pick<TaskStore, 'find'>;
  engine: Pick<RunEngine, 'findRuns' | 'readOutcome'>;
  threads: Pick<ThreadStore, 'find' | 'contentBytesOf'>;
  /** Bytes of all large results that answers of this process hold. */
  budget: ByteBudget;
}

const NO_CONTENT: TaskContent = { values: undefined, sent: [] };

/**
 * Reads tasks with their content: messages and values are in their runs and in the state of their thread. Content is
 * read when there is room for it, which it takes until a signal: each method returns undefined when that came first.
 */
export class TaskReader {
  readonly #options: TaskReaderOptions;
  readonly #room: ContentRoom;

  constructor(options: TaskReaderOptions) {
    this.#options = options;
    this.#room = new ContentRoom(options);
  }

  /** @throws A2aError */
  async require(scope: Scope, assistantId: string, taskId: string): Promise<TaskRecord> {
    const task = isUuid(taskId) ? await this.#options.tasks.find(scope, assistantId, taskId.toLowerCase()) : undefined;
    if (!task) throw taskNotFound(taskId);
    return task;
  }

  /** Shows the first of these tasks, as many as one answer may have: at least one where there is one. */
  async viewFirst(
    scope: Scope,
    tasks: readonly TaskRecord[],
    options: TaskViewOptions,
    until: AbortSignal,
  ): Promise<A2aTask[] | undefined> {
    const withContent = tasks.filter((task) => showsContent(task, options));
    const count = await this.#room.take(withContent, until);
    if (count === undefined) return undefined;
    const next = withContent[count];
    const shown: A2aTask[] = [];
    // One after the other: each may have large values.
    for (const task of next ? tasks.slice(0, tasks.indexOf(next)) : tasks) {
      const content = showsContent(task, options) ? await this.#contentOf(scope, task) : NO_CONTENT;
      shown.push(toTask(task, content, options));
    }
    return shown;
  }

  /** Returns what answers the message of a task that has settled: the task, or a message where the graph wants that. */
  async answer(
    scope: Scope,
    task: TaskRecord,
    options: TaskViewOptions,
    until: AbortSignal,
  ): Promise<A2aStreamEvent | undefined> {
    const content = await this.contentOf(scope, task, until);
    const message = content && wholeAnswer(task, content);
    return message ? { message } : content && { task: toTask(task, content, options) };
  }

  /** Returns the content of a task. @throws EncryptionError */
  async contentOf(scope: Scope, task: TaskRecord, until: AbortSignal): Promise<TaskContent | undefined> {
    return (await this.#room.take([task], until)) === undefined ? undefined : this.#contentOf(scope, task);
  }

  /** The same for an answer that makes so many copies of the content, and takes no more than `maxBytes` of it. */
  async contentWithin(
    scope: Scope,
    task: TaskRecord,
    maxBytes: number,
    { copies, until }: { copies: number; until: AbortSignal },
  ): Promise<TaskContent | 'too large' | undefined> {
    const { threads, budget } = this.#options;
    const bytes = (await threads.contentBytesOf([task.runId])).get(task.runId) ?? 0;
    if (bytes > maxBytes) return 'too large';
    return (await holdContent(budget, bytes * copies, until)) ? this.#contentOf(scope, task) : undefined;
  }

  async #contentOf(scope: Scope, task: TaskRecord): Promise<TaskContent> {
    const { contextId: threadId, runId } = task;
    if (isInFlight(task)) {
      const [values, sent] = await Promise.all([this.#valuesOfThread(scope, threadId), this.#sentBy(runId)]);
      return { values: withoutInterrupts(values), sent };
    }
    const outcome = await this.#options.engine.readOutcome({ threadId, runId });
    if (outcome?.values) return { values: parseStoredJson(outcome.values), sent: [] };
    // The values of a run are kept for a while, those of its thread for good. Later runs may have replaced all of them
    // but the messages.
    const values = await this.#valuesOfThread(scope, threadId);
    if (messagesIn(values)) return { values, sent: [] };
    return { values: task.isNewest ? values : undefined, sent: await this.#sentBy(runId) };
  }

  async #valuesOfThread(scope: Scope, threadId: string): Promise<unknown> {
    const thread = await this.#options.threads.find(scope, threadId);
    return thread?.values ? parseStoredJson(thread.values) : undefined;
  }

  /** Returns the messages that a run was created with. */
  async #sentBy(runId: string): Promise<StateMessage[]> {
    const [run] = await this.#options.engine.findRuns([runId]);
    return messagesIn(run?.kwargs.input) ?? [];
  }
}

function showsContent(task: TaskRecord, { withArtifacts, historyLength }: TaskViewOptions): boolean {
  return withArtifacts || historyLength > 0 || isWaiting(task);
}

function withoutInterrupts(values: unknown): unknown {
  if (!isFields(values)) return values;
  const { __interrupt__: _, ...rest } = values;
  return rest;
}
