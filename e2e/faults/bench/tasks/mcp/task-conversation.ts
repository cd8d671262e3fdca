import type { Random } from '../../random.ts';
import type { GivenAnswers } from './given-answers.ts';
import type { Fields, McpTarget } from './mcp-requests.ts';
import type { ToolCall } from './tool-calls.ts';

/** A task, as `tasks/get` shows it. */
export interface McpTask extends Fields {
  taskId: string;
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
}

/** A question of the server to the user. */
export interface McpQuestion {
  message: string;
}

export interface ConversationOptions {
  target: McpTarget;
  random: Random;
  call: ToolCall;
  given: GivenAnswers;
  /** Milliseconds since 1970. */
  until: number;
}

/** The calls of one revision that have a task executed. None of them rejects. */
export interface TaskConversation {
  /** Calls the tool; a call that has ended by then has its result. Undefined when nobody knows what came of it. */
  begin(): Promise<{ taskId: string } | { result: Fields } | undefined>;
  /** Looks after the task once: answers what it asks, and returns it when it is shown. */
  attend(taskId: string): Promise<McpTask | undefined>;
  /** The number of connections that ended before what they were for. */
  readonly cuts: number;
}

/** Reads a task and its result where both can be had, such as at one process; undefined when they cannot. */
export type ShowTask = (target: McpTarget, taskId: string) => Promise<{ task: McpTask; result: Fields } | undefined>;

/** Returns an answer to `elicitation/create`. */
export function accept(text: string): object {
  return { action: 'accept', content: { answer: text } };
}
