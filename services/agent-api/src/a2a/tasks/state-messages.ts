import type { A2aMessage, A2aPart } from '@runyard/contracts';
import { type Fields, isFields } from '../../http/fields.ts';
import { partsOfContent } from './content-parts.ts';

/** A message of a graph's state, as JSON. */
export type StateMessage = Fields;

/** Returns the messages in the values of a graph; undefined when its state has none. */
export function messagesIn(values: unknown): StateMessage[] | undefined {
  const messages = isFields(values) ? values.messages : undefined;
  return Array.isArray(messages) ? messages.filter(isFields) : undefined;
}

/** Returns the id of the task whose message this is; undefined for others. */
function taskOf(message: StateMessage): string | undefined {
  const { task_id: taskId } = a2aFieldsOf(message);
  return typeof taskId === 'string' ? taskId : undefined;
}

/**
 * Returns the messages of a task: from its first message up to the first of another task. A graph may have dropped the
 * task's messages; of the thread's newest task there is then the last turn.
 */
export function messagesOfTask(messages: StateMessage[], taskId: string, isNewest: boolean): StateMessage[] {
  const own = messages.findIndex((message) => taskOf(message) === taskId);
  const start = own >= 0 || !isNewest ? own : messages.findLastIndex(isHuman);
  if (start < 0) return isNewest ? messages : [];
  const end = messages.findIndex((message, index) => index > start && (taskOf(message) ?? taskId) !== taskId);
  return messages.slice(start, end < 0 ? undefined : end);
}

/** Returns the parts of the last message of the agent that says something. */
export function lastAnswer(messages: StateMessage[]): A2aPart[] | undefined {
  for (const message of messages.toReversed()) {
    if (isHuman(message)) return undefined;
    const parts = isAgent(message) ? partsOfContent(message.content) : [];
    if (parts.length > 0) return parts;
  }
  return undefined;
}

/** Returns the messages of users and of the agent in the form of A2A. */
export function toHistory(messages: StateMessage[], about: { contextId: string; taskId: string }): A2aMessage[] {
  const { contextId } = about;
  let taskId = about.taskId;
  return messages.flatMap((message, index) => {
    taskId = taskOf(message) ?? taskId;
    const isUsers = isHuman(message);
    if (!isUsers && !isAgent(message)) return [];
    const parts = partsOfContent(message.content);
    if (parts.length === 0) return [];
    return [
      {
        messageId: idOf(message) ?? `${about.taskId}-${index}`,
        role: isUsers ? ('ROLE_USER' as const) : ('ROLE_AGENT' as const),
        parts,
        contextId,
        taskId,
        ...sentWith(message),
      },
    ];
  });
}

/** Returns what the client sent with its message beside the parts. */
function sentWith(message: StateMessage): Pick<A2aMessage, 'metadata' | 'extensions'> {
  const a2a = a2aFieldsOf(message);
  return {
    ...(isFields(a2a.metadata) && { metadata: a2a.metadata }),
    ...(Array.isArray(a2a.extensions) && { extensions: a2a.extensions.filter((each) => typeof each === 'string') }),
  };
}

/** Returns the id that the client gave its message, or that of the graph. */
function idOf(message: StateMessage): string | undefined {
  const { message_id: sent } = a2aFieldsOf(message);
  return [sent, message.id].find((id): id is string => typeof id === 'string' && id !== '');
}

function a2aFieldsOf({ additional_kwargs: extra }: StateMessage): Fields {
  return isFields(extra) && isFields(extra.a2a) ? extra.a2a : {};
}

function isHuman({ type, role }: StateMessage): boolean {
  return type === 'human' || role === 'user' || role === 'human';
}

export function isAgent({ type, role }: StateMessage): boolean {
  return type === 'ai' || type === 'AIMessageChunk' || role === 'assistant' || role === 'ai';
}
