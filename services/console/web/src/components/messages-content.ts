export interface ToolCall {
  id: string | undefined;
  name: string;
  /** Text while it still comes in pieces. */
  args: unknown;
}

/** A message of a chat, as a list shows it. */
export interface Message {
  id: string;
  /** `human`, `ai`, `tool`, `system` or another kind of LangChain's. */
  type: string;
  name: string | undefined;
  text: string;
  reasoning: string;
  /** The parts that are neither text nor reasoning: pictures, files and the like, as the graph wrote them. */
  others: unknown[];
  toolCalls: ToolCall[];
  toolCallId: string | undefined;
  /** `success` or `error` of a tool's result. */
  status: string | undefined;
}

type Fields = Record<string, unknown>;

/** Returns the messages in the values of a thread; undefined where its graph has none. */
export function messagesOf(values: unknown): Message[] | undefined {
  const given = isFields(values) ? values.messages : undefined;
  if (!Array.isArray(given) || !given.every(isMessage)) return undefined;
  return given.map(readMessage);
}

/** Returns whether a JSON Schema is of an input with `messages`, which a chat can be made for. */
export function takesMessages(schema: unknown): boolean {
  const properties = isFields(schema) ? schema.properties : undefined;
  const messages = isFields(properties) ? properties.messages : undefined;
  if (!isFields(messages)) return false;
  if (messages.langgraph_type === 'messages') return true;
  // Python's graphs that take a single message too have alternatives here.
  const alternatives = [messages, messages.anyOf, messages.oneOf].flat();
  return alternatives.some((each) => isFields(each) && each.type === 'array' && !hasScalars(each.items));
}

function hasScalars(items: unknown): boolean {
  return isFields(items) && ['string', 'number', 'integer', 'boolean'].includes(String(items.type));
}

/** Reads a message, or a piece of one: `AIMessageChunk` is of an `ai` message. */
function readMessage(given: Fields, index = 0): Message {
  const type = text(given.type) ?? text(given.role) ?? 'unknown';
  const content = contentOf(given.content);
  return {
    id: text(given.id) ?? `message-${index}`,
    type: TYPES[type] ?? type,
    name: text(given.name),
    ...content,
    toolCalls: toolCallsOf(given.tool_calls),
    toolCallId: text(given.tool_call_id),
    status: text(given.status),
  };
}

/** A message that is still being written, with its tool calls in pieces. */
export interface MessageInPieces {
  message: Message;
  /** The text of the arguments so far, by the place of the call. */
  callTexts: ReadonlyMap<number, string>;
}

/** Adds the next piece to a message. */
export function addPiece(before: MessageInPieces | undefined, piece: Fields): MessageInPieces {
  const next = readMessage(piece);
  if (!before) return { message: { ...next, toolCalls: callsOf([], new Map(), piece).calls }, ...textsOf(piece) };
  const { calls, texts } = callsOf(before.message.toolCalls, before.callTexts, piece);
  const { message } = before;
  return {
    message: {
      ...message,
      text: message.text + next.text,
      reasoning: message.reasoning + next.reasoning,
      others: next.others.length > 0 ? [...message.others, ...next.others] : message.others,
      toolCalls: calls,
    },
    callTexts: texts,
  };
}

function textsOf(piece: Fields): { callTexts: ReadonlyMap<number, string> } {
  return { callTexts: callsOf([], new Map(), piece).texts };
}

function callsOf(
  before: ToolCall[],
  textsBefore: ReadonlyMap<number, string>,
  piece: Fields,
): { calls: ToolCall[]; texts: ReadonlyMap<number, string> } {
  const chunks = Array.isArray(piece.tool_call_chunks) ? piece.tool_call_chunks.filter(isFields) : [];
  if (chunks.length === 0) return { calls: before, texts: textsBefore };
  const calls = [...before];
  const texts = new Map(textsBefore);
  for (const chunk of chunks) {
    const index = typeof chunk.index === 'number' ? chunk.index : calls.length;
    const args = (texts.get(index) ?? '') + (text(chunk.args) ?? '');
    texts.set(index, args);
    calls[index] = {
      id: calls[index]?.id ?? text(chunk.id),
      name: calls[index]?.name || (text(chunk.name) ?? ''),
      args: parsed(args),
    };
  }
  return { calls: calls.filter((call) => call !== undefined), texts };
}

const TYPES: Record<string, string> = {
  AIMessageChunk: 'ai',
  AIMessage: 'ai',
  assistant: 'ai',
  HumanMessageChunk: 'human',
  HumanMessage: 'human',
  user: 'human',
  ToolMessageChunk: 'tool',
  ToolMessage: 'tool',
  SystemMessage: 'system',
};

function contentOf(content: unknown): Pick<Message, 'text' | 'reasoning' | 'others'> {
  if (typeof content === 'string') return { text: content, reasoning: '', others: [] };
  const blocks = Array.isArray(content) ? content : [];
  const of = (read: (block: Fields) => string | undefined) =>
    blocks.map((block) => (isFields(block) ? (read(block) ?? '') : '')).join('');
  return {
    text: blocks
      .map((block) =>
        typeof block === 'string' ? block : isFields(block) && block.type === 'text' ? text(block.text) : '',
      )
      .join(''),
    reasoning: of((block) => text(block.reasoning) ?? text(block.thinking)),
    others: blocks.filter((block) => isFields(block) && !KNOWN_BLOCKS.has(String(block.type))),
  };
}

/** Tool calls are shown as such, wherever a provider writes them. */
const KNOWN_BLOCKS = new Set([
  ...['text', 'text_delta', 'reasoning', 'thinking', 'redacted_thinking', 'non_standard'],
  ...['tool_use', 'tool_call', 'tool_call_chunk', 'input_json_delta', 'invalid_tool_call'],
]);

function toolCallsOf(given: unknown): ToolCall[] {
  if (!Array.isArray(given)) return [];
  return given.filter(isFields).map(({ id, name, args }) => ({ id: text(id), name: text(name) ?? '', args }));
}

function parsed(args: string): unknown {
  try {
    return JSON.parse(args);
  } catch {
    return args;
  }
}

function isMessage(value: unknown): value is Fields {
  return isFields(value) && ('content' in value || 'tool_calls' in value) && ('type' in value || 'role' in value);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
