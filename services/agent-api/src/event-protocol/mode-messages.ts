import type { StreamEntry } from '@runyard/run-stream';
import { type MessageContent, RunMessages, type WireMessage } from './run-messages.ts';

type JsonRecord = Record<string, unknown>;

/** Finds the messages of a run that was started for stream modes in the entries of these. */
export class ModeMessages {
  readonly #messages = new RunMessages();
  /** Namespaces whose first state is known. */
  readonly #hasState = new Set<string>();
  /** Messages of mode `messages` that are known to be of the run. */
  readonly #announced = new Set<string>();

  *convert({ kind, event, data }: StreamEntry): Generator<MessageContent> {
    const [name = '', ...namespace] = event.split('|');
    switch (kind) {
      case 'messages-tuple':
        yield* this.#addTuple(namespace, JSON.parse(data));
        break;
      case 'messages':
        yield* this.#addList(name, namespace, JSON.parse(data));
        break;
      case 'updates':
        if (mentionsMessages(data)) yield* this.#addUpdates(namespace, JSON.parse(data));
        break;
      case 'values':
        yield* this.#addState(namespace, mentionsMessages(data) ? messagesIn(JSON.parse(data)) : []);
        break;
    }
  }

  /** Completes what was streamed when the run has ended. */
  end(): Generator<MessageContent> {
    return this.#messages.end();
  }

  *#addTuple(outer: string[], [message, metadata]: [unknown, JsonRecord?]): Generator<MessageContent> {
    if (!isMessage(message)) return;
    const { langgraph_checkpoint_ns: ns, langgraph_node: node, run_id: runId } = metadata ?? {};
    const namespace = typeof ns === 'string' && ns !== '' ? ns.split('|') : outer;
    const place = { namespace, node: typeof node === 'string' ? node : undefined };
    if (message.type.endsWith('Chunk')) yield* this.#messages.addChunk(message, place, runId);
    else yield* this.#messages.addWhole(message, place);
  }

  /** Adds messages of mode `messages`: each as far as it has come, and all of a state once a step has ended. */
  *#addList(name: string, namespace: string[], list: unknown): Generator<MessageContent> {
    if (name === 'messages/metadata') {
      for (const id of Object.keys(list as JsonRecord)) this.#announced.add(id);
      return;
    }
    const messages = [list].flat().filter(isMessage);
    if (name === 'messages/complete') yield* this.#addState(namespace, messages);
    else for (const message of messages) yield* this.#messages.addPartial(message, { namespace });
  }

  *#addUpdates(namespace: string[], updates: JsonRecord): Generator<MessageContent> {
    for (const [node, update] of Object.entries(updates)) {
      const messages = [update].flat().flatMap(messagesIn);
      for (const message of messages) yield* this.#messages.addWhole(message, { namespace, node });
    }
  }

  /** The first state of a graph has what was there before the run, and what its client sent. */
  *#addState(namespace: string[], messages: WireMessage[]): Generator<MessageContent> {
    const key = namespace.join('|');
    if (!this.#hasState.has(key)) this.#messages.know(messages.filter(({ id }) => !this.#announced.has(id)));
    this.#hasState.add(key);
    for (const message of messages) yield* this.#messages.addWhole(message, { namespace });
    yield* this.#messages.endStep(namespace);
  }
}

/** Spares most states that have none from being parsed. */
function mentionsMessages(data: string): boolean {
  return data.includes('"messages"');
}

function messagesIn(values: unknown): WireMessage[] {
  const { messages } = (typeof values === 'object' && values !== null ? values : {}) as JsonRecord;
  return [messages].flat().filter(isMessage);
}

function isMessage(value: unknown): value is WireMessage {
  if (typeof value !== 'object' || value === null) return false;
  const { id, type, content } = value as JsonRecord;
  return typeof id === 'string' && typeof type === 'string' && content !== undefined;
}
