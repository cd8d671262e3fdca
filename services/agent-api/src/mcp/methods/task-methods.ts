import { isUuid } from '@runyard/contracts';
import { isInFlight, isTerminal } from '../../a2a/tasks/task-record.ts';
import { closedAnswer } from '../../http/closed-answer.ts';
import { type Fields, isFields } from '../../http/fields.ts';
import type { ProtocolAccess } from '../../protocols/access.ts';
import { type Follower, followerOf, type McpCall, type Outcome, value } from '../call.ts';
import { toToolResult } from '../calls/tool-result.ts';
import { RELATED_TASK_KEY, TASKS_EXTENSION } from '../protocol/client.ts';
import { invalidParams, missingCapability } from '../protocol/mcp-error.ts';
import { optionalText, requireText } from '../protocol/params.ts';
import { toResult } from '../protocol/server.ts';
import type { OldConversation } from '../tasks/old-conversation.ts';
import { statusOf, toNewTask, toOldTask } from '../tasks/task-forms.ts';
import type { FoundTask, ToolTasks } from '../tasks/tool-tasks.ts';

const PAGE = 50;

/** The methods about tasks. */
export class TaskMethods {
  readonly #access: ProtocolAccess;
  readonly #tasks: ToolTasks;
  readonly #conversation: OldConversation;

  constructor(options: { access: ProtocolAccess; tasks: ToolTasks; conversation: OldConversation }) {
    this.#access = options.access;
    this.#tasks = options.tasks;
    this.#conversation = options.conversation;
  }

  /** `tasks/get` of the new revision: the task with its result, or with what it asks. */
  async get(call: McpCall, params: Fields): Promise<Outcome> {
    requireExtension(call);
    const found = await this.#require(call, params, 'read');
    const { task } = found;
    const { client } = call;
    const end = await this.#tasks.endOf(found, closedAnswer(call.request.res));
    const shown = toNewTask(task, statusOf(task, client));
    if (!end || end.kind === 'cancelled') return value(shown);
    if (end.kind !== 'asks') return value({ ...shown, result: toResult(toToolResult(end, client), client) });
    const questions = await this.#tasks.openQuestions(task, end.interrupts);
    if (!client.asksUser) throw missingCapability({ elicitation: { form: {} } });
    const requests = questions.map(({ key, params: asked }) => [key, { method: 'elicitation/create', params: asked }]);
    return value({ ...shown, inputRequests: Object.fromEntries(requests) });
  }

  async update(call: McpCall, params: Fields): Promise<Outcome> {
    requireExtension(call);
    const { inputResponses } = params;
    if (!isFields(inputResponses)) throw invalidParams('inputResponses must be an object');
    await this.#tasks.answer(call, await this.#require(call, params, 'create_run'), inputResponses);
    return value({});
  }

  /** `tasks/cancel` of the new revision. It may be repeated. */
  async cancel(call: McpCall, params: Fields): Promise<Outcome> {
    requireExtension(call);
    await this.#tasks.cancel(await this.#require(call, params, 'update'));
    return value({});
  }

  async getOld(call: McpCall, params: Fields): Promise<Outcome> {
    const { task } = await this.#require(call, params, 'read');
    return value(toOldTask(task, statusOf(task, call.client)));
  }

  async listOld({ client, request }: McpCall, params: Fields): Promise<Outcome> {
    const before = readCursor(optionalText(params, 'cursor'));
    const { scope } = await this.#access.ask(request, { event: 'threads:search', value: {} });
    const rows = await this.#tasks.list(scope, { before, limit: PAGE + 1 });
    const page = rows.slice(0, PAGE);
    const last = rows.length > PAGE ? page.at(-1) : undefined;
    return value({
      tasks: page.map((task) => toOldTask(task, statusOf(task, client))),
      ...(last && { nextCursor: Buffer.from(last.taskId).toString('base64url') }),
    });
  }

  /** `tasks/cancel` of 2025-11-25: a task that has ended is refused. */
  async cancelOld(call: McpCall, params: Fields): Promise<Outcome> {
    const found = await this.#require(call, params, 'update');
    if (isTerminal(found.task)) throw invalidParams('The task has ended: it cannot be cancelled any more');
    await this.#tasks.cancel(found);
    return value(toOldTask(found.task, 'cancelled'));
  }

  /** `tasks/result` of 2025-11-25: waits for the end, and asks the user meanwhile. */
  async resultOld(call: McpCall, params: Fields): Promise<Outcome> {
    const found = await this.#require(call, params, 'read');
    return this.#answerOld({ client: call.client, request: followerOf(call.request) }, found);
  }

  /** Nothing of the request is held while the task goes on. */
  #answerOld({ client, request }: Pick<McpCall, 'client'> & { request: Follower }, found: FoundTask): Outcome {
    const related = { _meta: { [RELATED_TASK_KEY]: { taskId: found.task.taskId } } };
    return {
      kind: 'later',
      wantsStream: client.asksUser,
      value: async (peer) => {
        const { task } = found;
        const run = { ...task, threadId: task.contextId };
        const readEnd = isInFlight(task) ? undefined : (until: AbortSignal) => this.#tasks.endOf(found, until);
        const right = { event: 'threads:read' } as const;
        const settling = { right, readEnd, about: related };
        const end = await this.#conversation.settle({ client, request }, run, peer, settling);
        return end && { ...toToolResult(end, client), ...related };
      },
    };
  }

  #require(call: McpCall, params: Fields, action: 'read' | 'update' | 'create_run'): Promise<FoundTask> {
    return this.#tasks.require(call, requireText(params, 'taskId'), action);
  }
}

/** @throws McpError */
function requireExtension({ client }: McpCall): void {
  if (!client.takesTasks) throw missingCapability({ extensions: { [TASKS_EXTENSION]: {} } });
}

/** @throws McpError */
function readCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const taskId = Buffer.from(cursor, 'base64url').toString();
  if (isUuid(taskId)) return taskId;
  throw invalidParams('cursor is none of this list');
}
