import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Random } from '../../random.ts';
import { RepeatingClients } from '../repeating-clients.ts';
import { PATIENCE_MS, RETRY_MS } from '../task-timing.ts';
import { GivenAnswers } from './given-answers.ts';
import { type Fields, type McpTarget, NEW_REVISION, OLD_REVISION } from './mcp-requests.ts';
import { NewConversation, showNewTask } from './new-conversation.ts';
import { OldConversation, showOldTask } from './old-conversation.ts';
import type { ConversationOptions, McpTask, ShowTask, TaskConversation } from './task-conversation.ts';
import { chooseToolCall, type ToolCall } from './tool-calls.ts';

interface Revision {
  name: string;
  open(options: ConversationOptions): TaskConversation;
  show: ShowTask;
}

export const REVISIONS: readonly Revision[] = [
  { name: NEW_REVISION, open: (options) => new NewConversation(options), show: showNewTask },
  { name: OLD_REVISION, open: (options) => new OldConversation(options), show: showOldTask },
];

/** A task that was acknowledged, and has ended for its client. */
export interface EndedToolTask {
  taskId: string;
  revision: Revision;
  call: ToolCall;
  given: GivenAnswers;
  /** The task and its result, as its client got them first. */
  shown: { task: McpTask; result: Fields };
}

const ENDED = ['completed', 'failed', 'cancelled'];

/**
 * Clients of MCP that call one tool after another and have each call executed as a task: half of them by revision
 * 2026-07-28, half by 2025-11-25.
 */
export class McpTaskClients {
  readonly ended: EndedToolTask[] = [];
  readonly faults: string[] = [];
  /** Requests and streams that ended before what they were for. */
  cuts = 0;
  /** Tries to answer a question. */
  answers = 0;
  readonly #target: McpTarget;
  readonly #random: Random;
  readonly #clients: RepeatingClients;
  #begun = 0;

  constructor(clients: number, { random, ...target }: McpTarget & { random: Random }) {
    this.#target = target;
    this.#random = random;
    this.#clients = new RepeatingClients(clients, (client) => this.#doOneTask(REVISIONS[client % 2]!));
  }

  /** Resolves when everything begun has ended. */
  stop(): Promise<void> {
    return this.#clients.stop();
  }

  async #doOneTask(revision: Revision): Promise<void> {
    this.#begun += 1;
    const call = chooseToolCall(this.#random);
    const given = new GivenAnswers(`answer ${this.#begun}`);
    const until = Date.now() + PATIENCE_MS;
    const options = { target: this.#target, random: this.#random, call, given, until };
    const conversation = revision.open(options);
    const fault = await this.#haveExecuted(revision, conversation, options);
    if (fault) this.faults.push(`${call.name} by ${revision.name} ${JSON.stringify(call.arguments)}: ${fault}`);
    this.cuts += conversation.cuts;
    this.answers += given.tries;
  }

  /** Returns what went wrong. */
  async #haveExecuted(
    revision: Revision,
    conversation: TaskConversation,
    { call, given, until }: ConversationOptions,
  ): Promise<string | undefined> {
    const begun = await repeatUntil(until, () => conversation.begin());
    if (!begun) return 'no task was begun';
    // The call was over before it became a task.
    if ('result' in begun) return faultOfResult(begun.result, { call, given });
    const { taskId } = begun;
    const ended = await repeatUntil(until, async () => {
      const task = await conversation.attend(taskId);
      return task && ENDED.includes(task.status) ? task : undefined;
    });
    if (!ended) return `task ${taskId} did not end`;
    const shown = await repeatUntil(until, () => revision.show(this.#target, taskId));
    if (!shown) return `task ${taskId} is ${ended.status}, and has no result`;
    this.ended.push({ taskId, revision, call, given, shown });
    return undefined;
  }
}

/** Returns what is wrong with a task as one process shows it, in two answers to the same request. */
export async function faultOfTask(one: EndedToolTask, target: McpTarget): Promise<string | undefined> {
  const { revision, taskId, shown } = one;
  const first = await revision.show(target, taskId);
  if (!first) return 'is not shown with its result';
  if (first.task.status !== 'completed') return `is ${first.task.status}`;
  const again = await revision.show(target, taskId);
  if (!isDeepStrictEqual(first, again)) return `was ${JSON.stringify(first)} and is ${JSON.stringify(again)}`;
  if (!isDeepStrictEqual(first, shown)) return `is ${JSON.stringify(first)}, its client had ${JSON.stringify(shown)}`;
  return faultOfResult(first.result, one);
}

/** The state of the graph stands in a result twice: as JSON, and as text of it. */
function faultOfResult(
  { structuredContent, content }: Fields,
  { call, given }: Pick<EndedToolTask, 'call' | 'given'>,
): string | undefined {
  const [{ text = '' } = {}] = content as { text?: string }[];
  if (structuredContent === undefined) return `failed: ${text}`;
  const state = structuredContent as Fields;
  return text === JSON.stringify(state) ? call.faultOf(state, given) : `has another text than its state: ${text}`;
}

async function repeatUntil<T>(until: number, attempt: () => Promise<T | undefined>): Promise<T | undefined> {
  while (Date.now() < until) {
    const outcome = await attempt();
    if (outcome !== undefined) return outcome;
    await pause(RETRY_MS);
  }
  return undefined;
}
