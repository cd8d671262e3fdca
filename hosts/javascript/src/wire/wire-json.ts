/**
 * Graph values as JSON text of the wire: messages are flat objects (`{"type": "ai", "content": …}`), everything else is
 * what `JSON.stringify` makes of it.
 *
 * `event` leaves a message as the runtime has it. `state` adds the keys that clients of thread state rely on.
 */
export type WireForm = 'event' | 'state';

/** Real states are not as deep, and the stack allows more. */
const MAX_DEPTH = 400;

/** A value has no JSON form: it is circular, a BigInt, or too large for one text. */
export class UnserializableValueError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnserializableValueError';
  }
}

interface MessageLike {
  lc_kwargs: Record<string, unknown>;
  id?: string;
  name?: string;
  getType?(): string;
  /** The only name of it in older releases of `@langchain/core`. */
  _getType(): string;
  constructor: { lc_name?: () => string };
  [key: string]: unknown;
}

/** @throws UnserializableValueError */
export function toWireJson(value: unknown, form: WireForm = 'event'): string {
  try {
    return JSON.stringify(flatten(value, form, 0)) ?? 'null';
  } catch (cause) {
    if (cause instanceof UnserializableValueError) throw cause;
    const reason = cause instanceof RangeError ? 'its JSON text would be too long' : (cause as Error).message;
    throw new UnserializableValueError(`A value of the graph cannot be sent as JSON: ${reason}`, { cause });
  }
}

/**
 * Returns `withoutIt` as JSON when `payload` has no JSON form: runnables and tools pass any object to each other, and the
 * run must not fail for it.
 */
export function toWireJsonOr(payload: unknown, withoutIt: unknown): string {
  try {
    return toWireJson(payload);
  } catch {
    return toWireJson(withoutIt);
  }
}

export function isMessage(value: unknown): value is MessageLike {
  if (typeof value !== 'object' || value === null) return false;
  const message = value as Partial<MessageLike>;
  return (
    typeof (message.getType ?? message._getType) === 'function' &&
    typeof message.lc_kwargs === 'object' &&
    'content' in message
  );
}

export function isMessageChunk(value: unknown): value is MessageLike & { concat(next: unknown): MessageLike } {
  return isMessage(value) && typeof value.concat === 'function';
}

/** Returns a message as the flat object of the wire. A chunk that ended up in state is a whole message. */
export function flattenMessage(message: MessageLike, form: WireForm): Record<string, unknown> {
  const flat: Record<string, unknown> = {};
  for (const key of Object.keys(message.lc_kwargs)) {
    if (key !== 'contentBlocks' && key !== 'tool_call_chunks') flat[key] = fieldOf(message, key);
  }
  const type = message.getType?.() ?? message._getType();
  flat.type = type;
  if (message.name !== undefined) flat.name = message.name;
  if (message.id !== undefined) flat.id = message.id;
  if (form === 'state') addDefaults(flat, message, type);
  return flat;
}

/** Returns a chunk of a message under the name of its class: `{"type": "AIMessageChunk", …}`. */
export function flattenChunk(message: MessageLike): Record<string, unknown> {
  const flat = flattenMessage(message, 'event');
  if (!isMessageChunk(message)) return flat;
  flat.type = message.constructor.lc_name?.() ?? flat.type;
  if (Array.isArray(message.tool_call_chunks)) flat.tool_call_chunks = message.tool_call_chunks.map(withArgs);
  return flat;
}

/**
 * Adds empty `args`: the first chunk of a call often has only the tool's name, and clients concatenate the `args` of
 * all.
 */
function withArgs(chunk: object): object {
  return 'args' in chunk && chunk.args !== undefined ? chunk : { ...chunk, args: '' };
}

function fieldOf(message: MessageLike, key: string): unknown {
  return key in message ? message[key] : message.lc_kwargs[key];
}

function addDefaults(flat: Record<string, unknown>, message: MessageLike, type: string): void {
  flat.name ??= null;
  flat.example ??= false;
  flat.id ??= null;
  if (type !== 'ai') return;
  flat.tool_calls ??= message.tool_calls ?? [];
  flat.invalid_tool_calls ??= message.invalid_tool_calls ?? [];
  flat.usage_metadata ??= message.usage_metadata ?? null;
}

/** Replaces messages at any depth. A value without messages is returned as it is, not copied. */
function flatten(value: unknown, form: WireForm, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) {
    throw new UnserializableValueError(
      'A value of the graph cannot be sent as JSON: it is circular or nested too deeply',
    );
  }
  if (Array.isArray(value)) return flattenArray(value, form, depth);
  if (isMessage(value)) return flattenMessage(value, form);
  if (value instanceof Error) return { error: value.name, message: value.message };
  const record = value as Record<string, unknown>;
  if (typeof record.toJSON === 'function') return record;
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(record)) {
    const before = record[key];
    const after = flatten(before, form, depth + 1);
    if (after === before) continue;
    copy ??= { ...record };
    copy[key] = after;
  }
  return copy ?? record;
}

function flattenArray(values: unknown[], form: WireForm, depth: number): unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < values.length; index++) {
    const after = flatten(values[index], form, depth + 1);
    if (after === values[index]) continue;
    copy ??= values.slice();
    copy[index] = after;
  }
  return copy ?? values;
}
