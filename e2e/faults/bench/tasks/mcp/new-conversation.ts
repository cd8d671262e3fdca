import { type Fields, newRequest, resultOf } from './mcp-requests.ts';
import {
  accept,
  type ConversationOptions,
  type McpQuestion,
  type McpTask,
  type ShowTask,
  type TaskConversation,
} from './task-conversation.ts';

/** Has a task executed by revision 2026-07-28 with its extension for tasks: it polls, and answers by `tasks/update`. */
export class NewConversation implements TaskConversation {
  readonly #options: ConversationOptions;
  /** Requests without an answer. */
  cuts = 0;

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  async begin() {
    const { name, arguments: args } = this.#options.call;
    const answer = await this.#request('tools/call', { name, arguments: args });
    if (answer?.resultType === 'task') return { taskId: String(answer.taskId) };
    return answer && { result: answer };
  }

  async attend(taskId: string): Promise<McpTask | undefined> {
    const task = (await this.#request('tasks/get', { taskId })) as McpTask | undefined;
    if (task?.status === 'input_required') await this.#answer(task);
    return task;
  }

  /** Answers some of the questions, or all. */
  async #answer({ taskId, inputRequests = {} }: McpTask): Promise<void> {
    const { random, given } = this.#options;
    const asked = Object.entries(inputRequests as Record<string, { params: McpQuestion }>);
    const chosen = random.shuffle(asked).slice(0, random.integer(1, Math.max(1, asked.length)));
    const answers = chosen.map(([key, { params }]) => ({
      key,
      question: params.message,
      text: given.next(params.message),
    }));
    const inputResponses = Object.fromEntries(answers.map(({ key, text }) => [key, accept(text)]));
    if (!(await this.#request('tasks/update', { taskId, inputResponses }))) return;
    for (const { question, text } of answers) given.markTaken(question, text);
  }

  async #request(method: string, params: Fields): Promise<Fields | undefined> {
    const result = await resultOf(this.#options.target, newRequest(method, params));
    if (!result) this.cuts += 1;
    return result;
  }
}

export const showNewTask: ShowTask = async (target, taskId) => {
  const task = (await resultOf(target, newRequest('tasks/get', { taskId }))) as McpTask | undefined;
  return task?.result === undefined ? undefined : { task, result: task.result as Fields };
};
