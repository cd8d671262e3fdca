/** Turns what a graph streams into events of the v1 stream, with one class of events per stream mode. */
import type { StreamedEvent } from '../langgraph/graph-types.ts';
import { withId } from '../langgraph/interrupt-id.ts';
import { flattenChunk, isMessage, isMessageChunk, toWireJson, toWireJsonOr } from '../wire/wire-json.ts';
import { type Message, MessageEvents } from './message-events.ts';
import { checkpointEvent, type DebugChunk, debugEvent, isSnapshot, taskEvent } from './step-events.ts';
import { TaskErrors } from './task-errors.ts';

export interface RenderedEvent {
  mode: string;
  event: string;
  data: string;
  /** Key of the event: a later event with the same key makes this one superfluous. */
  supersedes?: string;
}

type Emit = (event: RenderedEvent) => void;
const INTERRUPT = '__interrupt__';

export class EventRenderer {
  readonly #modes: ReadonlySet<string>;
  readonly #emit: Emit;
  readonly #taskErrors = new TaskErrors();
  /** The newest values of each namespace whose step is under way; an interrupt is added to them. */
  readonly #values = new Map<string, unknown>();
  /** Undefined unless mode `messages` was requested. */
  readonly #messages: MessageEvents | undefined;
  /** Interrupts of the root graph since its last values without interrupts. */
  readonly rootInterrupts: unknown[] = [];
  /** True when the root graph stopped at an interrupt, dynamic or static. */
  isInterrupted = false;

  constructor(askedModes: string[], emit: Emit) {
    this.#modes = new Set(askedModes);
    this.#emit = emit;
    if (this.#modes.has('messages')) {
      this.#messages = new MessageEvents(({ event, namespace, data, supersedes }) =>
        this.#emitEvent('messages', eventName(event, namespace), data, supersedes),
      );
    }
  }

  /**
   * The modes to request from the graph. `values` is always among them, because the final values are the run's result.
   */
  get graphModes(): string[] {
    const modes = new Set(['values']);
    for (const mode of this.#modes) {
      if (mode === 'messages-tuple') modes.add('messages');
      else if (mode !== 'events') modes.add(mode);
    }
    return [...modes];
  }

  /** Callback handlers that the requested modes need. */
  get callbacks(): object[] {
    return this.#modes.has('tasks') || this.#modes.has('debug') ? [this.#taskErrors.handler] : [];
  }

  /** The root graph's newest values; undefined before the first. */
  get rootValues(): unknown {
    return this.#values.get('');
  }

  render(namespace: string[], mode: string, payload: unknown): void {
    switch (mode) {
      case 'values':
        this.#renderValues(namespace, payload);
        break;
      case 'updates':
        this.#send('updates', namespace, withInterruptSchema(payload));
        break;
      case 'messages':
        this.#renderMessage(namespace, payload as [Message, Record<string, unknown>]);
        break;
      case 'tasks':
        this.#send('tasks', namespace, taskEvent(payload as Record<string, unknown>, this.#taskErrors));
        break;
      case 'checkpoints':
        // Some versions send a lightweight envelope with `values`; only the full snapshot is an event.
        if (isSnapshot(payload)) this.#send('checkpoints', namespace, checkpointEvent(payload));
        break;
      case 'debug':
        this.#send('debug', namespace, debugEvent(payload as DebugChunk, this.#taskErrors));
        break;
      case 'tools':
        this.#renderToolEvent(namespace, payload as Record<string, unknown>);
        break;
      default:
        this.#send(mode, namespace, payload);
    }
  }

  /** Shows what a graph shows that stops at a breakpoint. */
  stopAt(values: unknown): void {
    this.render([], 'values', values);
    this.render([], 'updates', { [INTERRUPT]: [] });
    this.render([], 'values', { [INTERRUPT]: [] });
  }

  /** Completes open messages after the graph has ended or was interrupted. */
  end(): void {
    this.#messages?.end();
  }

  renderStreamedEvent(event: StreamedEvent): void {
    if (!this.#modes.has('events')) return;
    const { event: name, data, name: runName, tags, run_id, metadata, parent_ids } = event;
    const about = { name: runName, tags: tags ?? [], run_id, metadata: metadata ?? {}, parent_ids: parent_ids ?? [] };
    const chunk = isMessageChunk(data.chunk) ? { chunk: flattenChunk(data.chunk) } : {};
    const payload = { event: name, data: { ...data, ...chunk }, ...about };
    this.#emit({ mode: 'events', event: 'events', data: toWireJsonOr(payload, { event: name, data: {}, ...about }) });
  }

  #renderToolEvent(namespace: string[], payload: Record<string, unknown>): void {
    if (!this.#modes.has('tools')) return;
    const { event, toolCallId, name } = payload;
    const data = toWireJsonOr(payload, { event, toolCallId, name });
    this.#emit({ mode: 'tools', event: eventName('tools', namespace), data });
  }

  #renderValues(namespace: string[], payload: unknown): void {
    const key = namespace.join('|');
    const interrupts = interruptsOf(payload);
    if (interrupts === undefined) {
      this.#keepValues(key, payload);
      this.#send('values', namespace, payload);
      this.#messages?.endStep(namespace, payload);
      return;
    }
    if (key === '') {
      this.isInterrupted = true;
      this.rootInterrupts.push(...interrupts);
    }
    const latest = this.#values.get(key);
    const base = typeof latest === 'object' && latest !== null ? latest : {};
    this.#send('values', namespace, withInterruptSchema({ ...base, [INTERRUPT]: interrupts }));
  }

  /** With the next values of a graph its step has ended, and with it all below: each call has a name of its own. */
  #keepValues(key: string, values: unknown): void {
    const below = key === '' ? '' : `${key}|`;
    for (const other of this.#values.keys()) if (other !== key && other.startsWith(below)) this.#values.delete(other);
    this.#values.set(key, values);
  }

  #renderMessage(streamNamespace: string[], [message, metadata]: [Message, Record<string, unknown>]): void {
    if (!isMessage(message)) return;
    // The runtime's last segment is the node's own task; the segments before it name the surrounding graph.
    const namespace = streamNamespace.slice(0, -1);
    if (this.#modes.has('messages-tuple')) {
      this.#emitEvent('messages-tuple', eventName('messages', namespace), [flattenChunk(message), metadata]);
    }
    this.#messages?.add(namespace, message, metadata);
  }

  #send(mode: string, namespace: string[], data: unknown): void {
    if (this.#modes.has(mode)) this.#emitEvent(mode, eventName(mode, namespace), data);
  }

  #emitEvent(mode: string, event: string, data: unknown, supersedes?: string): void {
    this.#emit({ mode, event, data: toWireJson(data), supersedes });
  }
}

function eventName(mode: string, namespace: string[]): string {
  return namespace.length === 0 ? mode : `${mode}|${namespace.join('|')}`;
}

export function interruptsOf(payload: unknown): unknown[] | undefined {
  if (typeof payload !== 'object' || payload === null || !(INTERRUPT in payload)) return undefined;
  const interrupts = payload[INTERRUPT];
  return Array.isArray(interrupts) ? interrupts : undefined;
}

/** Adds the missing keys of interrupts, so that clients of every language find the same ones. */
export function withInterruptSchema(payload: unknown): unknown {
  const interrupts = interruptsOf(payload);
  if (interrupts === undefined) return payload;
  const filled = interrupts.map((interrupt) =>
    typeof interrupt === 'object' && interrupt !== null
      ? {
          ...(withId(interrupt) as object),
          response_schema: (interrupt as { response_schema?: unknown }).response_schema ?? null,
        }
      : interrupt,
  );
  return { ...(payload as object), [INTERRUPT]: filled };
}
