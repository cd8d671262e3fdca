/** Writes messages in the form that the GenAI conventions give to content. */

const TEXT_MAX = 4_096;
const CONTENT_MAX = 32_768;

const ROLES: Record<string, string> = { human: 'user', ai: 'assistant', tool: 'tool', system: 'system' };

/** The parts of LangChain's messages that are read, of every line of it. */
export interface ChatMessage {
  content?: unknown;
  tool_calls?: { id?: string; name: string; args: unknown }[];
  tool_call_id?: string;
  role?: string;
  getType?(): string;
  _getType?(): string;
}

interface WrittenMessage {
  role: string;
  parts: object[];
  finish_reason?: string;
}

export function roleOf(message: ChatMessage): string {
  const type = message.getType?.() ?? message._getType?.() ?? 'generic';
  return ROLES[type] ?? message.role ?? type;
}

/** Returns JSON text of the messages, of the newest of them where all are too long. */
export function writeMessages(messages: readonly ChatMessage[], finishReason?: string): string {
  const written: string[] = [];
  let length = 0;
  for (const message of [...messages].reverse()) {
    const text = JSON.stringify(writeMessage(message, finishReason));
    length += text.length;
    if (length > CONTENT_MAX && written.length > 0) break;
    written.unshift(text);
  }
  return `[${written.join(',')}]`;
}

/** Returns JSON text of the instructions among the messages; undefined when there are none. */
export function writeInstructions(messages: readonly ChatMessage[]): string | undefined {
  if (messages.length === 0) return undefined;
  return JSON.stringify(messages.flatMap(({ content }) => textParts(content)));
}

/** Returns any value as text of limited length. */
export function writeValue(value: unknown): string {
  return cut(typeof value === 'string' ? value : (safeJson(value) ?? String(value)));
}

function writeMessage(message: ChatMessage, finishReason: string | undefined): WrittenMessage {
  const role = roleOf(message);
  const parts =
    role === 'tool'
      ? [{ type: 'tool_call_response', id: message.tool_call_id ?? null, response: writeValue(message.content) }]
      : [
          ...textParts(message.content),
          ...(message.tool_calls ?? []).map(({ id, name, args }) => ({
            type: 'tool_call',
            id: id ?? null,
            name,
            arguments: writeValue(args),
          })),
        ];
  return { role, parts, ...(finishReason !== undefined && { finish_reason: finishReason }) };
}

/** Returns the text of a message; of images, audio and files only that they were there. */
function textParts(content: unknown): object[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', content: cut(content) }];
  if (!Array.isArray(content)) return [];
  return content.map((block: unknown) => {
    const { type = 'unknown', text } = (block ?? {}) as { type?: string; text?: unknown };
    return typeof text === 'string' ? { type: 'text', content: cut(text) } : { type: String(type) };
  });
}

function cut(text: string): string {
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}… (${text.length} characters)`;
}

function safeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
