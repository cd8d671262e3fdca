import { isUuid } from '@runyard/contracts';
import type { RunEngine } from '@runyard/run-engine';
import type { TaskReader } from '../../a2a/tasks/task-reader.ts';
import { isInFlight, isTerminal, isWaiting } from '../../a2a/tasks/task-record.ts';
import type { TaskStore, ToolTask } from '../../a2a/tasks/task-store.ts';
import { isRestricted, type Scope, UNRESTRICTED } from '../../access/scope.ts';
import type { Fields } from '../../http/fields.ts';
import type { ProtocolAccess } from '../../protocols/access.ts';
import type { McpCall } from '../call.ts';
import { type CallEnd, COPIES, endWith, STATE_BYTES_MAX } from '../calls/call-end.ts';
import { type Interrupt, type Question, questionsOf, readAnswer, resumeWith } from '../calls/questions.ts';
import type { ToolRuns } from '../calls/tool-runs.ts';
import { invalidParams } from '../protocol/mcp-error.ts';
import type { GivenAnswers } from './given-answers.ts';

export interface ToolTasksOptions {
  access: ProtocolAccess;
  tasks: Pick<TaskStore, 'findToolTask' | 'listToolTasks'>;
  reader: Pick<TaskReader, 'contentWithin'>;
  engine: Pick<RunEngine, 'cancelWaitingTask' | 'findRuns'>;
  answers: GivenAnswers;
  runs: ToolRuns;
}

/** A task that a caller may see. */
export interface FoundTask {
  scope: Scope;
  task: ToolTask;
}

/** Answers of a client by the names of questions: results of `elicitation/create`. */
export type AnswersByKey = Readonly<Record<string, unknown>>;

/** Times that a task may ask, or be answered, while it is being cancelled. */
const LOOKS_MAX = 5;

/** Reads the tasks that calls have become, answers what they ask, and ends them. */
export class ToolTasks {
  readonly #options: ToolTasksOptions;

  constructor(options: ToolTasksOptions) {
    this.#options = options;
  }

  /** @throws McpError for a task that does not exist, or that the caller may not see */
  async require(
    { request }: Pick<McpCall, 'request'>,
    taskId: string,
    action: 'read' | 'update' | 'create_run',
  ): Promise<FoundTask> {
    // The project's handlers know threads.
    const task = await this.find(UNRESTRICTED, taskId);
    if (!task) throw noTask();
    const { scope } = await this.#options.access.ask(request, {
      event: `threads:${action}`,
      value: { thread_id: task.contextId, ...(action === 'create_run' && { assistant_id: task.assistantId }) },
    });
    const own = isRestricted(scope) ? await this.find(scope, taskId) : task;
    if (!own) throw noTask();
    return { scope, task: own };
  }

  find(scope: Scope, taskId: string): Promise<ToolTask | undefined> {
    return isUuid(taskId) ? this.#options.tasks.findToolTask(scope, taskId.toLowerCase()) : Promise.resolve(undefined);
  }

  /** Returns the newest first. */
  list(scope: Scope, page: { before: string | null; limit: number }): Promise<ToolTask[]> {
    return this.#options.tasks.listToolTasks(scope, page);
  }

  /**
   * Returns the end of a task's newest run, whose values have room until the signal; undefined when that came first, and
   * while the run is in flight. @throws EncryptionError
   */
  async endOf({ scope, task }: FoundTask, until: AbortSignal): Promise<CallEnd | undefined> {
    if (isInFlight(task)) return undefined;
    if (task.state === 'TASK_STATE_CANCELED') return { kind: 'cancelled' };
    if (task.state === 'TASK_STATE_FAILED' || task.state === 'TASK_STATE_REJECTED') {
      return { kind: 'failed', error: task.error ?? { error: 'Error', message: 'The run failed' } };
    }
    const content = await this.#options.reader.contentWithin(scope, task, STATE_BYTES_MAX, { copies: COPIES, until });
    if (content === 'too large') return { kind: 'too large', threadId: task.contextId };
    const end = content && endWith(content.values);
    return end?.kind === 'asks' && !isWaiting(task) ? { kind: 'done', values: end.values } : end;
  }

  /** Returns the interrupts that a task waits at; none for others. Its values have room only while they are read. */
  async interruptsOf(found: FoundTask, closed: AbortSignal): Promise<Interrupt[]> {
    const read = new AbortController();
    try {
      const end = await this.endOf(found, AbortSignal.any([closed, read.signal]));
      return end?.kind === 'asks' ? end.interrupts : [];
    } finally {
      read.abort();
    }
  }

  /**
   * Returns those questions of a task that nobody has answered. They are named by their interrupts: no name comes twice.
   * Where all are answered and no run has followed, the process that was to make it has died: all are open again.
   */
  async openQuestions(task: ToolTask, interrupts: readonly Interrupt[]): Promise<Question[]> {
    const given = await this.#givenTo(task);
    const all = questionsOf(interrupts).map((question) => ({ ...question, key: question.interruptId }));
    const open = all.filter(({ key }) => !Object.hasOwn(given, key));
    return open.length > 0 ? open : all;
  }

  /**
   * Takes answers, some or all, and goes on when all are there. Answers that no question is open for are ignored. A
   * refusal ends the task, and so does what is no answer where the client `asksOnce`.
   */
  async answer(
    call: Pick<McpCall, 'request'>,
    found: FoundTask,
    responses: AnswersByKey,
    { asksOnce = false } = {},
  ): Promise<void> {
    const { task } = found;
    const given: Fields = {};
    const interrupts = await this.interruptsOf(found, call.request.signal);
    for (const question of await this.openQuestions(task, interrupts)) {
      if (!Object.hasOwn(responses, question.key)) continue;
      const answer = readAnswer(responses[question.key], question);
      if (answer.kind === 'refused' || (answer.kind === 'missing' && asksOnce)) {
        await this.#end(task);
        return;
      }
      if (answer.kind === 'given') given[question.interruptId] = answer.value;
    }
    if (Object.keys(given).length === 0) return;
    const all = await this.#options.answers.add(task, given);
    if (!all || !interrupts.every(({ id }) => Object.hasOwn(all, id))) return;
    await this.#options.runs.resume(call.request, task, resumeWith(interrupts, all));
  }

  /** Orders the end of a task, also of one that asks or is answered meanwhile; one that has ended stays as it is. */
  async cancel({ scope, task }: FoundTask, reason = 'tasks/cancel requested'): Promise<void> {
    let current: ToolTask | undefined = task;
    for (let looks = 0; looks < LOOKS_MAX && current && !isTerminal(current); looks += 1) {
      const { contextId: threadId, runId, taskId }: ToolTask = current;
      const isOrdered = isWaiting(current)
        ? await this.#end(current)
        : await this.#options.runs.cancel(scope, { threadId, runId }, reason);
      if (isOrdered) return;
      current = await this.find(scope, taskId);
    }
  }

  /** Ends a task that waits for answers. Returns false when it does not wait any more. */
  async #end(task: ToolTask): Promise<boolean> {
    const { contextId: threadId, runId } = task;
    const wasWaiting = await this.#options.engine.cancelWaitingTask({ threadId, runId });
    if (wasWaiting) await this.#options.runs.publishEnd(task);
    return wasWaiting;
  }

  async #givenTo({ runId }: ToolTask): Promise<Fields> {
    const [run] = await this.#options.engine.findRuns([runId]);
    return this.#options.answers.of(run?.metadata ?? {});
  }
}

export function noTask() {
  return invalidParams('There is no such task');
}
