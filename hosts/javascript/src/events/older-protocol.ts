/** Makes events of the event protocol from the stream modes of a LangGraph that does not make them. */
import { MessageBlocks } from '@runyard/host-protocol/graph-process';
import type { GraphEvent } from '../langgraph/graph-types.ts';
import { isMessage, isMessageChunk } from '../wire/wire-json.ts';
import type { Message } from './message-events.ts';
import { NamespaceLifecycles } from './namespace-lifecycles.ts';
import type { StreamChunk } from './older-streams.ts';
import { checkpointOf, isSnapshot } from './step-events.ts';

type JsonRecord = Record<string, unknown>;

export class OlderProtocol {
  readonly #lifecycles = new NamespaceLifecycles();
  readonly #messages = new Map<string, BegunMessage>();
  readonly #completedMessages = new Set<string>();

  *convert([namespace, mode, payload]: StreamChunk): Generator<GraphEvent> {
    yield* this.#lifecycles.observe(namespace, mode, payload);
    switch (mode) {
      case 'messages':
        yield* this.#addMessage(namespace, payload as [Message, JsonRecord]);
        break;
      case 'values':
        yield* this.#endMessages();
        yield eventOf('values', namespace, payload);
        break;
      case 'updates':
        yield* toUpdates(namespace, payload as JsonRecord);
        break;
      case 'tools':
        yield eventOf('tools', namespace, toToolData(payload as JsonRecord));
        break;
      case 'checkpoints':
        if (isSnapshot(payload)) yield eventOf('checkpoints', namespace, toEnvelope(payload));
        break;
      case 'custom':
        yield eventOf('custom', namespace, hasName(payload) ? payload : { payload });
        break;
      case 'tasks':
        yield eventOf('tasks', namespace, payload);
        break;
    }
  }

  /** Ends what has begun when the run has ended. */
  *end(status: 'completed' | 'failed'): Generator<GraphEvent> {
    yield* this.#endMessages();
    yield* this.#lifecycles.end(status);
  }

  *#addMessage(namespace: string[], [message, metadata]: [Message, JsonRecord]): Generator<GraphEvent> {
    if (!isMessage(message) || message.id === undefined || this.#completedMessages.has(message.id)) return;
    const { id } = message;
    const { langgraph_node: node, run_id: runId } = metadata;
    const type = message.getType?.() ?? message._getType();
    const begun = this.#messages.get(id) ?? {
      blocks: new MessageBlocks({ id, type, toolCallId: message.tool_call_id, runId }),
      namespace,
      node: typeof node === 'string' ? node : undefined,
    };
    this.#messages.set(id, begun);
    yield* toMessageEvents(begun, begun.blocks.add(message));
    if (!isMessageChunk(message)) yield* this.#endMessage(id, begun);
  }

  *#endMessages(): Generator<GraphEvent> {
    for (const [id, begun] of [...this.#messages]) yield* this.#endMessage(id, begun);
  }

  *#endMessage(id: string, begun: BegunMessage): Generator<GraphEvent> {
    this.#messages.delete(id);
    this.#completedMessages.add(id);
    yield* toMessageEvents(begun, begun.blocks.end());
  }
}

interface BegunMessage {
  blocks: MessageBlocks;
  namespace: string[];
  node: string | undefined;
}

function* toMessageEvents({ namespace, node }: BegunMessage, data: Iterable<JsonRecord>): Generator<GraphEvent> {
  for (const each of data) yield eventOf('messages', namespace, each, node);
}

function eventOf(method: string, namespace: string[], data: unknown, node?: string): GraphEvent {
  return { method, params: { namespace, timestamp: Date.now(), node, data } };
}

function* toUpdates(namespace: string[], payload: JsonRecord): Generator<GraphEvent> {
  for (const [node, written] of Object.entries(payload)) {
    const isRecord = typeof written === 'object' && written !== null;
    yield eventOf('updates', namespace, { node, values: isRecord ? written : { value: written } }, node);
  }
}

function toEnvelope({ config, parentConfig, metadata }: JsonRecord): JsonRecord {
  const parent = checkpointOf(parentConfig)?.checkpoint_id;
  const { step, source } = metadata as JsonRecord;
  return { id: checkpointOf(config)?.checkpoint_id, ...(parent ? { parent_id: parent } : {}), step, source };
}

function toToolData({ event, toolCallId, name, input, data, output, error }: JsonRecord): JsonRecord {
  const tool_call_id = String(toolCallId ?? '');
  switch (event) {
    case 'on_tool_start':
      return { event: 'tool-started', tool_call_id, tool_name: String(name ?? 'tool'), input };
    case 'on_tool_end':
      return { event: 'tool-finished', tool_call_id, output: output ?? null };
    case 'on_tool_error':
      return { event: 'tool-error', tool_call_id, message: error instanceof Error ? error.message : String(error) };
    default:
      return {
        event: 'tool-output-delta',
        tool_call_id,
        delta: typeof data === 'string' ? data : JSON.stringify(data ?? null),
      };
  }
}

function hasName(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && 'name' in payload;
}
