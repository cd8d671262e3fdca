import { type Fields, isFields } from '../../http/fields.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import { ItemEvents } from './item-events.ts';
import { idOf, resultFields, textOf, toolCallsOf } from './shown-messages.ts';
import { TokenUsage } from './token-usage.ts';

/** A message that is being written. */
interface OpenMessage {
  id: string;
  /** True for a message that is not the agent's, or that the client has already. */
  isIgnored: boolean;
  /** Arguments so far, by the index of their block: events report them from the beginning. */
  calls: Map<number, OpenCall>;
}

interface OpenCall {
  id: string | undefined;
  args: string;
}

/**
 * Translates what a graph says: the messages of models, block by block as they are written, and what stands in the state
 * without having been written before the reader's eyes. It knows which messages and calls the client has.
 */
export class MessageTranslator {
  readonly usage = new TokenUsage();
  readonly #items = new ItemEvents();
  /** Messages by the place where they are written; models that write at once have different ones. */
  readonly #open = new Map<string, OpenMessage>();
  /** Ids of messages that the client has, or gets. */
  readonly #known = new Set<string>();
  /** Namespaces whose first state is known: what it had is older than the run. */
  readonly #begun = new Set<string>();

  /** True when a state or a message has been translated. */
  get hasBegun(): boolean {
    return this.#begun.size > 0 || this.#known.size > 0;
  }

  /** Translates an event of the channel `messages`. */
  *translate(namespace: string[], data: Fields): Generator<AgUiEvent> {
    const place = `${namespace.join('|')} ${String(data.run_id ?? '')}`;
    const message = this.#open.get(place);
    switch (data.event) {
      case 'message-start':
        if (message) yield* this.#close(place, message);
        this.#begin(place, data);
        return;
      case 'content-block-start':
        if (message && !message.isIgnored) yield* this.#addBlock(message, data.index, data.content);
        return;
      case 'content-block-delta':
        if (message && !message.isIgnored) yield* this.#addDelta(message, data.index, data.delta);
        return;
      case 'content-block-finish':
        if (message && !message.isIgnored) yield* this.#finishBlock(message, data.index, data.content);
        return;
      case 'message-finish':
        this.usage.add(data.usage, data.responseMetadata);
        if (message) yield* this.#close(place, message);
        return;
    }
  }

  /**
   * Translates the messages of a state: those that nobody saw being written, and results of tools. The first state of a
   * namespace is what the run began with.
   */
  *observe(namespace: string[], messages: Fields[]): Generator<AgUiEvent> {
    const key = namespace.join('|');
    const isFirst = !this.#begun.has(key);
    this.#begun.add(key);
    for (const message of messages) {
      const id = idOf(message);
      if (id === undefined || this.#known.has(id)) continue;
      this.#known.add(id);
      if (isFirst) this.#rememberCalls(message);
      else yield* this.#whole(id, message);
    }
  }

  /** Takes the next states as what was there before, after events were lost. */
  forgetStates(): void {
    this.#begun.clear();
  }

  /** Closes what is open. */
  *closeAll(): Generator<AgUiEvent> {
    this.#open.clear();
    yield* this.#items.closeAll();
  }

  #begin(place: string, { id, role = 'ai' }: Fields): void {
    const messageId = typeof id === 'string' && id !== '' ? id : place;
    const isIgnored = role !== 'ai' || this.#known.has(messageId);
    if (role === 'ai') this.#known.add(messageId);
    this.#open.set(place, { id: messageId, isIgnored, calls: new Map() });
  }

  *#addBlock(message: OpenMessage, index: unknown, block: unknown): Generator<AgUiEvent> {
    if (!isFields(block)) return;
    if (block.type === 'text') yield* this.#items.addText(message.id, String(block.text ?? ''));
    else if (block.type === 'tool_call_chunk') yield* this.#addCall(message, index, block);
    else yield* this.#items.addReasoning(reasoningId(message, index), reasoningOf(block));
  }

  *#addDelta(message: OpenMessage, index: unknown, delta: unknown): Generator<AgUiEvent> {
    if (!isFields(delta)) return;
    if (delta.type === 'text-delta') yield* this.#items.addText(message.id, String(delta.text ?? ''));
    else if (delta.type === 'block-delta' && isFields(delta.fields)) {
      if (delta.fields.type === 'tool_call_chunk') yield* this.#addCall(message, index, delta.fields);
    } else yield* this.#items.addReasoning(reasoningId(message, index), reasoningOf(delta));
  }

  *#finishBlock(message: OpenMessage, index: unknown, block: unknown): Generator<AgUiEvent> {
    const call = message.calls.get(Number(index));
    if (call && isFields(block) && block.type === 'tool_call') yield* this.#completeCall(message, index, block);
    if (call?.id !== undefined) yield* this.#items.endCall(call.id);
    message.calls.delete(Number(index));
    yield* this.#items.endReasoning(reasoningId(message, index));
    if (!call) yield* this.#items.endText(message.id);
  }

  /** Adds the arguments of a call as far as they have come. It begins when its id and name are known. */
  *#addCall(message: OpenMessage, index: unknown, { id, name, args }: Fields): Generator<AgUiEvent> {
    const call: OpenCall = message.calls.get(Number(index)) ?? { id: undefined, args: '' };
    message.calls.set(Number(index), call);
    if (call.id === undefined) {
      if (typeof id !== 'string' || typeof name !== 'string') return;
      call.id = id;
      yield* this.#items.startCall(id, name, message.id);
    }
    if (typeof args !== 'string' || !args.startsWith(call.args)) return;
    yield* this.#items.addArguments(call.id, args.slice(call.args.length));
    call.args = args;
  }

  /** Adds what a whole call has more than was written of it: some models do not write arguments piece by piece. */
  *#completeCall(message: OpenMessage, index: unknown, { id, name, args }: Fields): Generator<AgUiEvent> {
    const written = message.calls.get(Number(index))?.args;
    if (written) return;
    yield* this.#addCall(message, index, { id, name, args: JSON.stringify(args ?? {}) });
  }

  *#close(place: string, { id, calls }: OpenMessage): Generator<AgUiEvent> {
    this.#open.delete(place);
    for (const call of calls.values()) if (call.id !== undefined) yield* this.#items.endCall(call.id);
    yield* this.#items.endReasoningOf(id);
    yield* this.#items.endText(id);
  }

  #rememberCalls(message: Fields): void {
    for (const { id } of toolCallsOf(message)) this.#items.remember(id);
  }

  *#whole(id: string, message: Fields): Generator<AgUiEvent> {
    if (message.type === 'tool') {
      const { content } = resultFields(message);
      const toolCallId = String(message.tool_call_id ?? '');
      yield { type: 'TOOL_CALL_RESULT', messageId: id, toolCallId, content, role: 'tool' };
    }
    if (message.type !== 'ai') return;
    yield* this.#items.addText(id, textOf(message.content));
    yield* this.#items.endText(id);
    for (const call of toolCallsOf(message)) {
      yield* this.#items.startCall(call.id, call.name, id);
      yield* this.#items.addArguments(call.id, call.args);
      yield* this.#items.endCall(call.id);
    }
  }
}

/** Blocks of reasoning have no ids: they follow from the message and the place in it. */
function reasoningId({ id }: OpenMessage, index: unknown): string {
  return `${id}-reasoning-${Number(index)}`;
}

function reasoningOf({ reasoning }: Fields): string {
  return typeof reasoning === 'string' ? reasoning : '';
}
