import type { Entry, Timeline } from './timeline.ts';

/** A message of LangChain as it stands in states and results. */
interface StoredMessage {
  type?: unknown;
  id?: unknown;
  content?: unknown;
  tool_calls?: unknown;
  tool_call_id?: unknown;
  name?: unknown;
  status?: unknown;
}

/** A part of a message: text, a call of a tool, thoughts, an image … */
export type Block = Record<string, unknown>;

export function blocksOf(content: unknown): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return Array.isArray(content)
    ? (content as Block[]).map((block) => (typeof block === 'string' ? { type: 'text', text: block } : block))
    : [];
}

/** Returns what a message says, with the tools it calls. */
export function textOf(blocks: readonly (Block | undefined)[]): string {
  return blocks
    .flatMap((block) => {
      if (!block) return [];
      if (typeof block.text === 'string') return [block.text];
      if (typeof block.reasoning === 'string') return [block.reasoning];
      if (/^tool_call/.test(String(block.type))) return [`Calls ${String(block.name ?? '…')}`];
      return [`[${String(block.type)}]`];
    })
    .join('\n');
}

/** Adds the messages of models and the answers of tools that the result of a task has. */
export function addResultMessages(timeline: Timeline, task: Entry, result: unknown): void {
  for (const message of messagesIn(result)) {
    if (message.type === 'ai') addModelMessage(timeline, task, message);
    if (message.type === 'tool') addToolAnswer(timeline, task, message);
  }
}

function messagesIn(result: unknown): StoredMessage[] {
  if (typeof result !== 'object' || result === null) return [];
  return Object.values(result)
    .flatMap((value: unknown) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter((value): value is StoredMessage => {
      const { type, content } = (value ?? {}) as StoredMessage;
      return (type === 'ai' || type === 'tool') && content !== undefined;
    });
}

function addModelMessage(timeline: Timeline, task: Entry, message: StoredMessage): void {
  const blocks = blocksOf(message.content);
  const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as Block[]) : [];
  const isInBlocks = blocks.some(({ type }) => type === 'tool_call');
  const text = textOf([...blocks, ...(isInBlocks ? [] : calls.map((call) => ({ ...call, type: 'tool_call' })))]);
  for (const call of calls) rememberCall(timeline, call);
  const shown = timeline
    .childrenOf(task.id)
    .some((id) => timeline.get(id)?.kind === 'message' && timeline.get(id)?.text === text);
  const id = `message:${typeof message.id === 'string' ? message.id : `${task.id}:${text}`}`;
  const known = timeline.get(id);
  // A node may give its message another id than its model did, and graphs around it repeat it.
  if (known || shown) {
    if (known?.status === 'running') timeline.put({ ...known, text, status: 'success', details: { message } });
    return;
  }
  timeline.put(messageEntry({ id, parent: task.id, at: lastMoment(timeline, task), text, details: { message } }));
}

export function messageEntry(made: {
  id: string;
  parent: string | undefined;
  at: number;
  text: string;
  details: Record<string, unknown>;
  status?: Entry['status'];
}): Entry {
  const { at, status = 'success', ...rest } = made;
  return { kind: 'message', title: 'Model message', order: [at, 0], status, ...rest };
}

function addToolAnswer(timeline: Timeline, task: Entry, message: StoredMessage): void {
  if (typeof message.tool_call_id !== 'string') return;
  const id = toolId(message.tool_call_id, task.id);
  const known = timeline.get(id);
  if (known && known.status !== 'running') return;
  timeline.put({
    kind: 'tool',
    title: typeof message.name === 'string' ? message.name : 'Tool',
    order: [lastMoment(timeline, task), 0],
    ...known,
    id,
    parent: task.id,
    status: message.status === 'error' ? 'error' : 'success',
    text: textOf(blocksOf(message.content)),
    details: { input: known?.details.input ?? callsOf(timeline).get(message.tool_call_id), output: message },
  });
}

/** Calls of the same id may be made again by another task, such as one of another attempt. */
export function toolId(callId: string, task: string | undefined): string {
  return `tool:${callId}:${task ?? ''}`;
}

/** The arguments of tool calls, by their ids: answers of tools do not repeat them. */
const calls = new WeakMap<Timeline, Map<string, unknown>>();

function callsOf(timeline: Timeline): Map<string, unknown> {
  const known = calls.get(timeline) ?? new Map<string, unknown>();
  calls.set(timeline, known);
  return known;
}

function rememberCall(timeline: Timeline, { id, args }: Block): void {
  if (typeof id === 'string') callsOf(timeline).set(id, args);
}

/** Results come without times: what they have happened after all that is known of the task. */
function lastMoment(timeline: Timeline, task: Entry): number {
  const last = timeline.childrenOf(task.id).at(-1);
  return Math.max(task.order[0], last === undefined ? 0 : timeline.get(last)!.order[0]);
}
