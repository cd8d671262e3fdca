/** Turns what a graph streams into the events of the v1 stream, one class of event per stream mode. */
import type { StreamedEvent } from './graph-types.ts';
import { TaskErrors } from './task-errors.ts';
import { flattenChunk, flattenMessage, isMessage, isMessageChunk, toWireJson } from './wire-json.ts';

export interface RenderedEvent {
  mode: string;
  event: string;
  data: string;
  /** Set on events that a later one with the same key makes superfluous. */
  supersedes?: string;
}

type Emit = (event: RenderedEvent) => void;
type Message = Parameters<typeof flattenMessage>[0];
const INTERRUPT = '__interrupt__';

export class EventRenderer {
  readonly #asked: ReadonlySet<string>;
  readonly #emit: Emit;
  readonly #taskErrors = new TaskErrors();
  /** The newest values of each namespace, to which an interrupt is added. */
  readonly #values = new Map<string, unknown>();
  /** Messages seen under mode `messages`, accumulated from their chunks. */
  readonly #messages = new Map<string, Message>();
  /** Interrupts of the root graph that were raised since its last values without them. */
  readonly rootInterrupts: unknown[] = [];
  /** True once the root graph stopped at an interrupt, dynamic or static. */
  isInterrupted = false;

  constructor(askedModes: string[], emit: Emit) {
    this.#asked = new Set(askedModes);
    this.#emit = emit;
  }

  /** Modes to ask of the graph: `values` always, because the final ones are the run's result. */
  get graphModes(): string[] {
    const modes = new Set(['values']);
    for (const mode of this.#asked) {
      if (mode === 'messages-tuple') modes.add('messages');
      else if (mode !== 'events') modes.add(mode);
    }
    return [...modes];
  }

  /** Callback handlers that the modes asked for need. */
  get callbacks(): object[] {
    return this.#asked.has('tasks') || this.#asked.has('debug') ? [this.#taskErrors.handler] : [];
  }

  /** The root graph's newest values; undefined before any. */
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
        // A lightweight envelope accompanies `values` in some versions; only the full snapshot is an event.
        if (isSnapshot(payload)) this.#send('checkpoints', namespace, checkpointEvent(payload));
        break;
      case 'debug':
        this.#send('debug', namespace, debugEvent(payload as DebugChunk, this.#taskErrors));
        break;
      default:
        this.#send(mode, namespace, payload);
    }
  }

  renderStreamedEvent(event: StreamedEvent): void {
    if (!this.#asked.has('events')) return;
    const { event: name, data, name: runName, tags, run_id, metadata, parent_ids } = event;
    const about = { name: runName, tags: tags ?? [], run_id, metadata: metadata ?? {}, parent_ids: parent_ids ?? [] };
    const chunk = isMessageChunk(data.chunk) ? { chunk: flattenChunk(data.chunk) } : {};
    let text: string;
    try {
      text = toWireJson({ event: name, data: { ...data, ...chunk }, ...about });
    } catch {
      // These events carry whatever runnables pass to each other; one that has no JSON form is no fault of the run.
      text = toWireJson({ event: name, data: {}, ...about });
    }
    this.#emit({ mode: 'events', event: 'events', data: text });
  }

  #renderValues(namespace: string[], payload: unknown): void {
    const key = namespace.join('|');
    const interrupts = interruptsOf(payload);
    if (interrupts === undefined) {
      this.#values.set(key, payload);
      this.#send('values', namespace, payload);
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

  #renderMessage(streamNamespace: string[], [message, metadata]: [Message, Record<string, unknown>]): void {
    if (!isMessage(message)) return;
    // The runtime names the node's own task last; the namespace of the graph around it is what comes before.
    const namespace = streamNamespace.slice(0, -1);
    if (this.#asked.has('messages-tuple')) {
      this.#emitEvent('messages-tuple', eventName('messages', namespace), [flattenChunk(message), metadata]);
    }
    if (!this.#asked.has('messages')) return;
    const id = message.id;
    if (id === undefined) return;
    const before = this.#messages.get(id);
    const isChunk = isMessageChunk(message);
    const whole = before !== undefined && isChunk && isMessageChunk(before) ? before.concat(message) : message;
    this.#messages.set(id, whole);
    if (before === undefined) {
      this.#emitEvent('messages', eventName('messages/metadata', namespace), { [id]: { metadata } });
    }
    const name = eventName(isChunk ? 'messages/partial' : 'messages/complete', namespace);
    const supersedes = isChunk ? `${name} ${id}` : undefined;
    this.#emitEvent('messages', name, [flattenMessage(whole, 'event')], supersedes);
  }

  #send(mode: string, namespace: string[], data: unknown): void {
    if (this.#asked.has(mode)) this.#emitEvent(mode, eventName(mode, namespace), data);
  }

  #emitEvent(mode: string, event: string, data: unknown, supersedes?: string): void {
    this.#emit({ mode, event, data: toWireJson(data), supersedes });
  }
}

function eventName(mode: string, namespace: string[]): string {
  return namespace.length === 0 ? mode : `${mode}|${namespace.join('|')}`;
}

function interruptsOf(payload: unknown): unknown[] | undefined {
  if (typeof payload !== 'object' || payload === null || !(INTERRUPT in payload)) return undefined;
  const interrupts = payload[INTERRUPT];
  return Array.isArray(interrupts) ? interrupts : undefined;
}

/** Clients of every language find the same keys in an interrupt. */
export function withInterruptSchema(payload: unknown): unknown {
  const interrupts = interruptsOf(payload);
  if (interrupts === undefined) return payload;
  const filled = interrupts.map((interrupt) =>
    typeof interrupt === 'object' && interrupt !== null
      ? { ...interrupt, response_schema: (interrupt as { response_schema?: unknown }).response_schema ?? null }
      : interrupt,
  );
  return { ...(payload as object), [INTERRUPT]: filled };
}

interface DebugChunk {
  step: number;
  timestamp: string;
  type: string;
  payload: Record<string, unknown>;
}

function debugEvent(chunk: DebugChunk, errors: TaskErrors): unknown {
  if (chunk.type !== 'checkpoint') return { ...chunk, payload: taskEvent(chunk.payload, errors) };
  const payload = checkpointEvent(chunk.payload) as Record<string, unknown>;
  return {
    ...chunk,
    payload: {
      ...payload,
      checkpoint: checkpointOf(chunk.payload.config),
      parent_checkpoint: checkpointOf(chunk.payload.parentConfig),
    },
  };
}

function isSnapshot(payload: unknown): payload is Record<string, unknown> {
  return typeof payload === 'object' && payload !== null && 'config' in payload;
}

function checkpointEvent({ config, parentConfig, values, metadata, next, tasks }: Record<string, unknown>): unknown {
  return {
    config: publicConfig(config),
    parent_config: parentConfig === undefined ? null : publicConfig(parentConfig),
    values,
    metadata,
    next,
    tasks: Array.isArray(tasks) ? tasks.map(checkpointTask) : [],
  };
}

function checkpointTask(task: Record<string, unknown>): unknown {
  const { state, ...rest } = task;
  return { ...rest, error: rest.error ?? null, state: isSnapshotConfig(state) ? checkpointOf(state) : (state ?? null) };
}

function taskEvent(task: Record<string, unknown>, errors: TaskErrors): unknown {
  if (!('result' in task)) {
    const { interrupts: _none, ...start } = task;
    return start;
  }
  return { ...task, error: task.error ?? errors.of(task.id) };
}

function isSnapshotConfig(value: unknown): value is { configurable: Record<string, unknown> } {
  return typeof value === 'object' && value !== null && 'configurable' in value;
}

/** `{thread_id, checkpoint_ns, checkpoint_id}` of a runnable config, null when it names no checkpoint's thread. */
export function checkpointOf(config: unknown): Record<string, unknown> | null {
  if (!isSnapshotConfig(config) || config.configurable?.thread_id === undefined) return null;
  const { thread_id, checkpoint_id, checkpoint_ns } = config.configurable;
  return { checkpoint_id: checkpoint_id ?? null, thread_id, checkpoint_ns: checkpoint_ns ?? '' };
}

/** A config without the runtime's own objects and without what identifies the caller. */
function publicConfig(config: unknown): unknown {
  if (!isSnapshotConfig(config)) return config ?? null;
  const { callbacks: _callbacks, ...rest } = config as unknown as Record<string, unknown>;
  const configurable = Object.fromEntries(
    Object.entries(config.configurable).filter(([key]) => !/^(__|langgraph_auth_|svc_)/.test(key)),
  );
  return { ...rest, configurable };
}
