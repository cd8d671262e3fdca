import type { A2aPart } from '@runyard/contracts';
import { partsOfContent } from '../../a2a/tasks/content-parts.ts';
import { type Fields, isFields } from '../../http/fields.ts';

/** A message of a conversation in the form of AG-UI. */
export type ShownMessage = Fields & { id: string; role: string };

/** A call of a tool in a message of the state. */
export interface StateToolCall {
  id: string;
  name: string;
  /** JSON text. */
  args: string;
}

/** Returns messages of a graph's state in the form of AG-UI; those without a form there are left out. */
export function toShownMessages(messages: Fields[]): ShownMessage[] {
  return messages.flatMap((message, index) => toShownMessage(message, idOf(message) ?? `message-${index}`) ?? []);
}

/** Returns the id of a message of the state; undefined when it has none. */
export function idOf({ id }: Fields): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** Returns the text of a message; files in it are left out. */
export function textOf(content: unknown): string {
  return partsOfContent(content)
    .map(({ text = '' }) => text)
    .join('');
}

/** Returns the calls that a message of the agent has. */
export function toolCallsOf({ tool_calls: calls }: Fields): StateToolCall[] {
  if (!Array.isArray(calls)) return [];
  return calls.filter(isFields).flatMap(({ id, name, args }) => {
    if (typeof id !== 'string' || typeof name !== 'string') return [];
    return [{ id, name, args: typeof args === 'string' ? args : JSON.stringify(args ?? {}) }];
  });
}

function toShownMessage(message: Fields, id: string): ShownMessage | undefined {
  const name = typeof message.name === 'string' && message.name !== '' ? { name: message.name } : {};
  switch (message.type) {
    case 'human':
      return { id, role: 'user', content: toShownContent(message.content), ...name };
    case 'ai':
      return { id, role: 'assistant', content: textOf(message.content), ...toolCallsField(message), ...name };
    case 'system':
      return { id, role: isDeveloper(message) ? 'developer' : 'system', content: textOf(message.content), ...name };
    case 'tool':
      return { id, role: 'tool', toolCallId: String(message.tool_call_id ?? ''), ...resultFields(message) };
    default:
      return undefined;
  }
}

/** Returns the result of a tool, which AG-UI shows as text. A failed one is an error too. */
export function resultFields({ content, status }: Fields): { content: string; error?: string } {
  const text = typeof content === 'string' || Array.isArray(content) ? textOf(content) : JSON.stringify(content ?? '');
  return { content: text, ...(status === 'error' && { error: text }) };
}

function toolCallsField(message: Fields): { toolCalls?: object[] } {
  const calls = toolCallsOf(message);
  if (calls.length === 0) return {};
  return {
    toolCalls: calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } })),
  };
}

/** LangChain has instructions of the developer as system messages with this mark. */
function isDeveloper({ additional_kwargs: extra }: Fields): boolean {
  return isFields(extra) && extra.__openai_role__ === 'developer';
}

function toShownContent(content: unknown): string | object[] {
  const parts = partsOfContent(content);
  if (!Array.isArray(content) || parts.every(({ text }) => text !== undefined)) return textOf(content);
  return content.flatMap((block) => partsOfContent([block]).map((part) => toShownPart(part, kindOf(block, part))));
}

const KINDS: readonly unknown[] = ['image', 'audio', 'video'];

/** Returns the kind of a file, by its block or by its media type. */
function kindOf(block: unknown, { mediaType = '' }: A2aPart): unknown {
  const type = isFields(block) && block.type === 'image_url' ? 'image' : isFields(block) && block.type;
  return [type, mediaType.split('/')[0]].find((kind) => KINDS.includes(kind)) ?? 'document';
}

function toShownPart({ text, raw, url, mediaType, filename }: A2aPart, type: unknown): object {
  if (text !== undefined) return { type: 'text', text };
  const source =
    raw === undefined
      ? { type: 'url', value: url, ...(mediaType !== undefined && { mimeType: mediaType }) }
      : { type: 'data', value: raw, mimeType: mediaType ?? 'application/octet-stream' };
  return { type, source, ...(filename !== undefined && { metadata: { filename } }) };
}
