/**
 * Makes the events of mode `messages`, in the order in which JavaScript servers send them: each message as far as it
 * has come while it is streamed, and whole once it is in the state.
 */
import { flattenMessage, isMessage, isMessageChunk } from '../wire/wire-json.ts';

export type Message = Parameters<typeof flattenMessage>[0];

export interface MessageEvent {
  event: string;
  namespace: string[];
  data: unknown;
  /** Key of the event: a later event with the same key makes this one superfluous. */
  supersedes?: string;
}

interface PartialMessage {
  namespace: string[];
  message: Message;
}

export class MessageEvents {
  readonly #emit: (event: MessageEvent) => void;
  /** Messages that have begun and are not complete, by id, each concatenated from its chunks. */
  readonly #begun = new Map<string, PartialMessage>();
  readonly #completed = new Set<string>();

  constructor(emit: (event: MessageEvent) => void) {
    this.#emit = emit;
  }

  /** Adds a chunk of a message, or a message that a node returned whole. */
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

  /** Completes the messages of the new state after a step, and those that the step streamed and did not keep. */
  endStep(namespace: string[], values: unknown): void {
    const inState = messagesOf(values).filter(({ id }) => !this.#completed.has(id));
    const begun = [...this.#begun].filter(([, { namespace: of }]) => isSameNamespace(of, namespace));
    const kept = new Set(inState.map(({ id }) => id));
    const others = begun.filter(([id]) => !kept.has(id)).map(([, { message }]) => message as Identified);
    this.#complete(namespace, [...inState, ...others]);
  }

  /** Completes the messages of the last step when the run has ended. */
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

/** Returns the messages with ids that a state has under `messages`: one or several. */
function messagesOf(values: unknown): Identified[] {
  if (typeof values !== 'object' || values === null || isMessage(values) || !('messages' in values)) return [];
  return [values.messages].flat().filter(isIdentified);
}

function isIdentified(value: unknown): value is Identified {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Identified>).id === 'string';
}

function isSameNamespace(one: string[], other: string[]): boolean {
  return one.length === other.length && one.every((part, index) => part === other[index]);
}
