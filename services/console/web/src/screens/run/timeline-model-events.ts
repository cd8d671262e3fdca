import type { ThreadEvent } from './thread-event.ts';
import { type Timeline, taskOf } from './timeline.ts';
import { type Block, blocksOf, messageEntry, textOf, toolId } from './timeline-messages.ts';

/** The blocks of messages that are being written. */
const written = new WeakMap<Timeline, Map<string, { id: string; blocks: Block[] }>>();

/** Adds what a model writes, as it writes it. */
export function applyMessage(timeline: Timeline, { params }: ThreadEvent): void {
  const { namespace, timestamp, data } = params;
  const open = written.get(timeline) ?? new Map<string, { id: string; blocks: Block[] }>();
  written.set(timeline, open);
  const key = `${namespace.join('|')}|${String(data.run_id)}`;
  if (data.event === 'message-start') {
    const id = `message:${String(data.id ?? data.run_id)}`;
    // A history may have had the whole of it already.
    if (timeline.get(id)?.status === 'success') return;
    const parent = taskOf(timeline, namespace, timestamp);
    open.set(key, { id, blocks: [] });
    const made = messageEntry({ id, parent, at: timestamp, text: '', status: 'running', details: {} });
    timeline.put({ ...made, startedAt: timestamp });
    return;
  }
  const message = open.get(key);
  const known = message && timeline.get(message.id);
  if (!message || !known) return;
  if (data.event === 'message-finish') {
    const { blocks } = message;
    const { usage, reason } = data;
    const details = { message: { content: blocks, usage, reason }, ...(known.details.message ? known.details : {}) };
    timeline.put({ ...known, status: 'success', endedAt: timestamp, text: textOf(blocks), details });
    open.delete(key);
    return;
  }
  writeBlock(message.blocks, data);
  if (known.status === 'running') timeline.put({ ...known, text: textOf(message.blocks) });
}

function writeBlock(blocks: Block[], { event, index, content, delta }: Record<string, unknown>): void {
  const place = Number(index);
  if (event === 'content-block-start' || event === 'content-block-finish') {
    blocks[place] = content as Block;
    return;
  }
  if (event !== 'content-block-delta') return;
  const known = blocks[place] ?? {};
  const { type, fields, ...rest } = delta as Block & { fields?: Block };
  if (type === 'block-delta') blocks[place] = { ...known, ...fields };
  else {
    const name = Object.keys(rest)[0];
    if (name) blocks[place] = { ...known, [name]: `${String(known[name] ?? '')}${String(rest[name])}` };
  }
}

/** Adds the call of a tool, and what came of it. */
export function applyTool(timeline: Timeline, { params }: ThreadEvent): void {
  const { namespace, timestamp, data } = params;
  const parent = taskOf(timeline, namespace, timestamp);
  const id = toolId(String(data.tool_call_id), parent);
  const known = timeline.get(id);
  if (data.event === 'tool-started') {
    if (known && known.status !== 'running') return;
    const details = { input: parse(data.input) };
    const order = [timestamp, 0] as const;
    const title = String(data.tool_name ?? 'Tool');
    timeline.put({ id, kind: 'tool', title, parent, order, status: 'running', startedAt: timestamp, details });
    return;
  }
  const hasFailed = data.event === 'tool-error';
  if (!hasFailed && data.event !== 'tool-finished') return;
  const details = { input: undefined, ...known?.details, ...(hasFailed ? { error: data } : { output: data.output }) };
  timeline.put({
    kind: 'tool',
    title: 'Tool',
    order: [timestamp, 0],
    ...known,
    id,
    parent,
    status: hasFailed ? 'error' : 'success',
    endedAt: timestamp,
    text: hasFailed ? String(data.message ?? data.error ?? '') : answerText(data.output),
    details,
  });
}

function answerText(output: unknown): string {
  const { content } = (typeof output === 'object' && output !== null ? output : {}) as { content?: unknown };
  return content === undefined ? (JSON.stringify(output) ?? '').slice(0, 500) : textOf(blocksOf(content));
}

/** Returns a text of JSON as what it means, and any other value as it is. */
export function parse(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
