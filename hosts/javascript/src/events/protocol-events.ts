/** Makes the events of the event protocol (version 2) from those that LangGraph streams. */
import { type ProtocolChannel, protocolEventName, protocolModeOf } from '@runyard/host-protocol/graph-process';
import type { GraphEvent, GraphEventParams } from '../langgraph/graph-types.ts';
import { withId } from '../langgraph/interrupt-id.ts';
import { toWireJson, toWireJsonOr } from '../wire/wire-json.ts';
import { interruptsOf, type RenderedEvent } from './event-renderer.ts';
import { taskEvent } from './step-events.ts';
import { TaskErrors } from './task-errors.ts';

type JsonRecord = Record<string, unknown>;

const INTERRUPT = '__interrupt__';
const NAMED_CUSTOM = 'custom:';

export class ProtocolEvents {
  readonly #emit: (event: RenderedEvent) => void;
  readonly #taskErrors = new TaskErrors();
  /** Ids of the interrupts whose request was emitted: each surrounding graph reports them again. */
  readonly #requested = new Set<unknown>();

  constructor(emit: (event: RenderedEvent) => void) {
    this.#emit = emit;
  }

  /** Callback handlers that the events need. */
  get callbacks(): object[] {
    return [this.#taskErrors.handler];
  }

  add({ method, params }: GraphEvent): void {
    const { namespace, data } = params;
    if (method.startsWith(NAMED_CUSTOM)) {
      this.#sendCustom(params, { name: method.slice(NAMED_CUSTOM.length), payload: data });
      return;
    }
    switch (method) {
      case 'lifecycle':
        // Only the end of the run in the database says how the root graph ended.
        if (namespace.length > 0) this.#send('lifecycle', params, data);
        break;
      case 'values':
        this.#addValues(params);
        break;
      case 'updates':
        this.#addUpdates(params);
        break;
      case 'messages':
        this.#send('messages', params, withRole(data));
        break;
      case 'tools':
        this.#addToolEvent(params);
        break;
      case 'tasks':
        this.#send('tasks', params, taskEvent(asRecord(data), this.#taskErrors));
        break;
      case 'checkpoints':
        this.#send('checkpoints', params, data);
        break;
      case 'custom':
        this.#sendCustom(params, toCustomData(data));
        break;
    }
  }

  #addValues(params: GraphEventParams): void {
    const interrupts = interruptsOf(params.data);
    if (interrupts === undefined) {
      this.#send('values', params, params.data);
      return;
    }
    this.#requestInputs(params, interrupts);
    const { [INTERRUPT]: _interrupts, ...values } = asRecord(params.data);
    if (Object.keys(values).length > 0) this.#send('values', params, values);
  }

  #addUpdates(params: GraphEventParams): void {
    const { node, values } = asRecord(params.data);
    if (node === INTERRUPT) this.#requestInputs(params, Array.isArray(values) ? values : []);
    else this.#send('updates', params, params.data);
  }

  #requestInputs(params: GraphEventParams, interrupts: unknown[]): void {
    for (const interrupt of interrupts) {
      const { id, value = null } = asRecord(withId(interrupt));
      if (typeof id !== 'string' || this.#requested.has(id)) continue;
      this.#requested.add(id);
      this.#send('input', { ...params, node: undefined }, { interrupt_id: id, payload: value });
    }
  }

  #addToolEvent(params: GraphEventParams): void {
    const { event, tool_call_id, tool_name } = asRecord(params.data);
    const { timestamp } = params;
    const data = toWireJsonOr(
      { timestamp, data: params.data },
      { timestamp, data: { event, tool_call_id, ...(tool_name !== undefined && { tool_name }), output: null } },
    );
    this.#emitText('tools', params, data);
  }

  #sendCustom(params: GraphEventParams, data: { name?: string; payload: unknown }): void {
    this.#send('custom', params, data, data.name);
  }

  #send(channel: ProtocolChannel, params: GraphEventParams, data: unknown, customName?: string): void {
    const { timestamp, node } = params;
    const text = toWireJson({ timestamp, ...(node !== undefined && { node }), data: data ?? null });
    this.#emitText(channel, params, text, customName);
  }

  #emitText(channel: ProtocolChannel, { namespace }: GraphEventParams, data: string, customName?: string): void {
    const event = protocolEventName({ channel, namespace, customName });
    this.#emit({ mode: protocolModeOf(channel), event, data });
  }
}

/** Names the author of a message that begins: LangGraph leaves out that it is the model. */
function withRole(data: unknown): unknown {
  const message = asRecord(data);
  return message.event === 'message-start' ? { role: 'ai', ...message } : data;
}

/**
 * Reads what a node wrote as LangGraph has it: under `payload`, or as it is when it has a `name`. Only `{name, payload}`
 * is an event of a channel of its own.
 */
function toCustomData(data: unknown): { name?: string; payload: unknown } {
  const written = asRecord(data);
  const keys = Object.keys(written).sort().join();
  if (keys === 'payload') return { payload: written.payload };
  const { name, payload } = written;
  return keys === 'name,payload' && typeof name === 'string' ? { name, payload } : { payload: data };
}

function asRecord(value: unknown): JsonRecord {
  return typeof value === 'object' && value !== null ? (value as JsonRecord) : {};
}
