import { setTimeout as pause } from 'node:timers/promises';
import { followStream } from '../../event-follower.ts';
import { RETRY_MS } from '../task-timing.ts';
import { type Fields, oldAnswer, oldRequest, openSession, resultOf, send } from './mcp-requests.ts';
import {
  accept,
  type ConversationOptions,
  type McpQuestion,
  type McpTask,
  type ShowTask,
  type TaskConversation,
} from './task-conversation.ts';

const TAKEN = 202;

/** A message on the stream of `tasks/result`: a question, or the result. */
interface StreamMessage {
  id: unknown;
  method?: string;
  params?: McpQuestion;
  result?: Fields;
}

/**
 * Has a task executed by revision 2025-11-25: it waits by `tasks/result`, cuts that connection at random, and answers
 * the questions that come on it.
 */
export class OldConversation implements TaskConversation {
  readonly #options: ConversationOptions;
  /** Connections of `tasks/result` that ended without it. */
  cuts = 0;
  #session: string | undefined;
  /** Questions that are being answered, by their ids. */
  readonly #answering = new Map<unknown, Promise<void>>();

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  async begin() {
    const { target, call } = this.#options;
    this.#session ??= await openSession(target);
    if (this.#session === undefined) return undefined;
    const params = { name: call.name, arguments: call.arguments, task: {} };
    const answer = await resultOf(target, oldRequest('tools/call', params, this.#session));
    const task = answer?.task as McpTask | undefined;
    return task && { taskId: task.taskId };
  }

  async attend(taskId: string): Promise<McpTask | undefined> {
    await this.#wait(taskId);
    await Promise.all(this.#answering.values());
    const { target } = this.#options;
    return (await resultOf(target, oldRequest('tasks/get', { taskId }, this.#session))) as McpTask | undefined;
  }

  /** Waits for the result once, and leaves at random. */
  async #wait(taskId: string): Promise<void> {
    const { target, random, until } = this.#options;
    const left = new AbortController();
    const leavesAfterMs = random.chance(0.5) ? random.integer(50, 2_000) : until - Date.now();
    const leaving = setTimeout(() => left.abort(), Math.max(0, leavesAfterMs));
    const { body, headers } = oldRequest('tasks/result', { taskId }, this.#session);
    let hasResult = false;
    await followStream(`${target.url}/mcp`, {
      method: 'POST',
      headers: { ...target.headers, ...headers },
      body,
      signal: left.signal,
      onEvent: ({ data }) => {
        if (left.signal.aborted) return;
        const message = data as StreamMessage;
        if (message.method === 'elicitation/create') this.#startAnswering(message);
        else if (message.result) hasResult = true;
      },
    });
    clearTimeout(leaving);
    if (!hasResult) this.cuts += 1;
  }

  #startAnswering({ id, params }: StreamMessage): void {
    if (!params || this.#answering.has(id)) return;
    const answering = this.#answer(id, params.message).then(() => void this.#answering.delete(id));
    this.#answering.set(id, answering);
  }

  /** Sends an answer until the server has taken one: nobody else tells the waiting stream. */
  async #answer(id: unknown, question: string): Promise<void> {
    const { target, given, until } = this.#options;
    while (Date.now() < until) {
      const text = given.next(question);
      const response = await send(target, oldAnswer(id, accept(text), String(this.#session)));
      if (response?.status === TAKEN) return given.markTaken(question, text);
      await pause(RETRY_MS);
    }
  }
}

/** Reads without a session, so that nothing is asked and the result is one JSON. */
export const showOldTask: ShowTask = async (target, taskId) => {
  const task = (await resultOf(target, oldRequest('tasks/get', { taskId }, undefined))) as McpTask | undefined;
  const result = task && (await resultOf(target, oldRequest('tasks/result', { taskId }, undefined)));
  return task && result && { task, result };
};
