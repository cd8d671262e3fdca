import { MessageBlocks } from '@runyard/host-protocol';

type JsonRecord = Record<string, unknown>;

/** A message as the wire has it, whole or a chunk of it. */
export interface WireMessage extends JsonRecord {
  id: string;
  type: string;
}

/** An event of a message, or of a tool that a message calls or answers. */
export interface MessageContent {
  channel: 'messages' | 'tools';
  namespace: string[];
  node?: string | undefined;
  data: JsonRecord;
}

interface Place {
  namespace: string[];
  node?: string | undefined;
}

interface BegunMessage extends Place {
  blocks: MessageBlocks;
}

/** Written by clients: they have no events, as in runs of the event protocol. */
const FROM_CLIENTS: ReadonlySet<string> = new Set(['human', 'HumanMessage', 'system', 'SystemMessage', 'remove']);

/**
 * The messages of one run, as its stream modes bring them: in chunks, as far as they have come, or whole, and often in
 * several of these ways. Each becomes the events of one message, with those of the tools that it calls.
 */
export class RunMessages {
  readonly #begun = new Map<string, BegunMessage>();
  readonly #completed = new Set<string>();

  /** Marks messages of the state in which the run began. */
  know(messages: Iterable<WireMessage>): void {
    for (const { id } of messages) if (!this.#begun.has(id)) this.#completed.add(id);
  }

  /** Adds the next chunk of a message. */
  *addChunk(message: WireMessage, place: Place, runId?: unknown): Generator<MessageContent> {
    if (!this.#isOpen(message)) return;
    yield* this.#endOthers(message.id, place);
    const begun = this.#begin(message, place, runId);
    yield* toContents(begun, begun.blocks.add(message));
  }

  /** Adds what is new in a message as far as it has come. Its tool calls come with the whole of it. */
  *addPartial(message: WireMessage, place: Place): Generator<MessageContent> {
    if (!this.#isOpen(message) || typeof message.content !== 'string') return;
    const begun = this.#begin(message, place);
    yield* toContents(begun, begun.blocks.add({ content: textAfter(begun.blocks, message.content) }));
  }

  /** Completes a message. */
  *addWhole(message: WireMessage, place: Place): Generator<MessageContent> {
    if (!this.#isOpen(message)) return;
    const isNew = !this.#begun.has(message.id);
    const begun = this.#begin(message, place);
    yield* toContents(begun, begun.blocks.add(isNew ? message : restOf(message, begun.blocks)));
    yield* this.#end(message.id);
    if (message.type === 'tool' || message.type === 'ToolMessage') yield toToolEnd(message, begun);
  }

  /** Completes the messages that nodes of a graph streamed and did not keep, when a step of the graph has ended. */
  *endStep(graph: string[]): Generator<MessageContent> {
    for (const [id, { namespace }] of [...this.#begun]) {
      const isOfGraph = namespace.length <= graph.length + 1 && graph.every((part, index) => namespace[index] === part);
      if (isOfGraph) yield* this.#end(id);
    }
  }

  /** Completes all messages when the run has ended. */
  *end(): Generator<MessageContent> {
    for (const id of [...this.#begun.keys()]) yield* this.#end(id);
  }

  #isOpen({ id, type }: WireMessage): boolean {
    return !this.#completed.has(id) && !FROM_CLIENTS.has(type);
  }

  #begin({ id, type, tool_call_id: toolCallId }: WireMessage, place: Place, runId?: unknown): BegunMessage {
    const role = type === 'ToolMessage' ? 'tool' : type;
    const begun = this.#begun.get(id) ?? { ...place, blocks: new MessageBlocks({ id, type: role, toolCallId, runId }) };
    this.#begun.set(id, begun);
    return begun;
  }

  /** A node streams one message after the other: the next one ends those before it. */
  *#endOthers(id: string, { namespace }: Place): Generator<MessageContent> {
    const key = namespace.join('|');
    for (const [other, begun] of [...this.#begun]) {
      if (other !== id && begun.namespace.join('|') === key) yield* this.#end(other);
    }
  }

  *#end(id: string): Generator<MessageContent> {
    const begun = this.#begun.get(id)!;
    this.#begun.delete(id);
    this.#completed.add(id);
    yield* toContents(begun, begun.blocks.end());
  }
}

function* toContents(place: Place, events: Iterable<JsonRecord>): Generator<MessageContent> {
  const { namespace, node } = place;
  for (const data of events) {
    yield { channel: 'messages', namespace, node, data };
    const { type, id, name, args } = (data.content ?? {}) as JsonRecord;
    if (data.event !== 'content-block-finish' || type !== 'tool_call' || typeof id !== 'string') continue;
    const started = { event: 'tool-started', tool_call_id: id, tool_name: String(name ?? 'tool'), input: args };
    yield { channel: 'tools', namespace, node, data: started };
  }
}

function toToolEnd(message: WireMessage, { namespace, node }: Place): MessageContent {
  const { tool_call_id, content, status } = message;
  const isError = status === 'error';
  const data = isError
    ? { event: 'tool-error', tool_call_id, message: typeof content === 'string' ? content : JSON.stringify(content) }
    : { event: 'tool-finished', tool_call_id, output: message };
  return { channel: 'tools', namespace, node, data };
}

/** Returns the part of a whole message that was not streamed. */
function restOf({ content, tool_calls: calls, usage_metadata }: WireMessage, blocks: MessageBlocks) {
  const text = typeof content === 'string' ? textAfter(blocks, content) : '';
  return { content: text, usage_metadata, ...(!blocks.hasCalls && { tool_calls: calls }) };
}

function textAfter({ text }: MessageBlocks, content: string): string {
  return content.startsWith(text) ? content.slice(text.length) : '';
}
