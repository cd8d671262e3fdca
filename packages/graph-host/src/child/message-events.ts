/**
 * The events of mode `messages`, in the order in which JavaScript servers send them: each message as far as it has come while
 * it is streamed, and whole once it stands in the state.
 */
import { flattenMessage, isMessage, isMessageChunk } from './wire-json.ts';

export type Message = Parameters<typeof flattenMessage>[0];

export interface MessageEvent {
  event: string;
  namespace: string[];
  data: unknown;
  /** Set on events that a later one with the same key makes superfluous. */
  supersedes?: string;
}

interface Begun {
  namespace: string[];
  message: Message;
}

export class MessageEvents {
  readonly #emit: (event: MessageEvent) => void;
  /** Messages that were begun and are not complete, by id, each put together from its chunks. */
  readonly #begun = new Map<string, Begun>();
  readonly #completed = new Set<string>();

  constructor(emit: (event: MessageEvent) => void) {
    this.#emit = emit;
  }

  /** Takes a piece of a message, or one that a node returned whole. */
  add(namespace: string[], message: Message, metadata: Record<string, unknown>): void {
    const { id } = message;
    const isChunk = isMessageChunk(message);
    if (id === undefined || (!isChunk && this.#completed.has(id))) return;
    const before = this.#begun.get(id)?.message;
    const whole = before !== undefined && isChunk && isMessageChunk(before) ? before.concat(message) : message;
    this.#begun.set(id, { namespace, message: whole });
    if (before === undefined) this.#emit({ event: 'messages/metadata', namespace, data: { [id]: { metadata } } });
    if (!isChunk) return;
    const data = [flattenMessage(whole, 'event')];
    this.#emit({ event: 'messages/partial', namespace, data, supersedes: `messages/partial ${id}` });
  }

  /** A step of a graph is over, so the messages of its new state are whole, and so are those it streamed and did not keep. */
  endStep(namespace: string[], values: unknown): void {
    const inState = messagesOf(values).filter(({ id }) => !this.#completed.has(id));
    const begun = [...this.#begun].filter(([, { namespace: of }]) => isSame(of, namespace));
    const kept = new Set(inState.map(({ id }) => id));
    const others = begun.filter(([id]) => !kept.has(id)).map(([, { message }]) => message as Identified);
    this.#complete(namespace, [...inState, ...others]);
  }

  /** The run is over: nothing goes on with messages of its last step. */
  end(): void {
    for (const [, { namespace, message }] of [...this.#begun]) this.#complete(namespace, [message as Identified]);
  }

  #complete(namespace: string[], messages: Identified[]): void {
    if (messages.length === 0) return;
    for (const { id } of messages) {
      this.#begun.delete(id);
      this.#completed.add(id);
    }
    this.#emit({ event: 'messages/complete', namespace, data: messages });
  }
}

type Identified = { id: string };

/** What stands under `messages` in a state, one or several, as far as it has ids. */
function messagesOf(values: unknown): Identified[] {
  if (typeof values !== 'object' || values === null || isMessage(values) || !('messages' in values)) return [];
  return [values.messages].flat().filter(isIdentified);
}

function isIdentified(value: unknown): value is Identified {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Identified>).id === 'string';
}

function isSame(one: string[], other: string[]): boolean {
  return one.length === other.length && one.every((part, index) => part === other[index]);
}
