/** Makes the content-block events of one message from its chunks, or from the whole of it. */
import type { GraphEvent } from '../langgraph/graph-types.ts';
import type { Message } from './message-events.ts';

type Block = Record<string, unknown> & { type: string };

interface Place {
  namespace: string[];
  node: string | undefined;
}

const ROLES: Record<string, string> = { human: 'human', system: 'system', tool: 'tool' };

export class MessageBlocks {
  readonly #place: Place;
  readonly #runId: unknown;
  readonly #start: Record<string, unknown>;
  #hasBegun = false;
  /** The block that has begun; its deltas are put together in it. */
  #open: { index: number; key: unknown; block: Block } | undefined;
  #count = 0;
  #usage: unknown;

  constructor(message: Message, place: Place, runId: unknown) {
    this.#place = place;
    this.#runId = runId;
    const type = message.getType?.() ?? message._getType();
    const toolCallId = message.tool_call_id;
    this.#start = {
      role: ROLES[type] ?? 'ai',
      id: message.id,
      ...(typeof toolCallId === 'string' && { tool_call_id: toolCallId }),
    };
  }

  *add(message: Message): Generator<GraphEvent> {
    if (!this.#hasBegun) yield this.#event({ event: 'message-start', ...this.#start });
    this.#hasBegun = true;
    for (const [key, block] of blocksOf(message)) yield* this.#addBlock(key, block);
    this.#usage = message.usage_metadata ?? this.#usage;
  }

  *end(): Generator<GraphEvent> {
    yield* this.#finishBlock();
    yield this.#event({ event: 'message-finish', ...(this.#usage ? { usage: this.#usage } : {}) });
  }

  *#addBlock(key: unknown, block: Block): Generator<GraphEvent> {
    if (this.#open?.key !== key) {
      yield* this.#finishBlock();
      const begun = emptyBlock(block);
      this.#open = { index: this.#count++, key, block: begun };
      yield this.#event({ event: 'content-block-start', index: this.#open.index, content: { ...begun } });
    }
    const { index, block: whole } = this.#open!;
    const delta = appendTo(whole, block);
    if (delta) yield this.#event({ event: 'content-block-delta', index, delta });
  }

  *#finishBlock(): Generator<GraphEvent> {
    if (!this.#open) return;
    const { index, block } = this.#open;
    this.#open = undefined;
    yield this.#event({ event: 'content-block-finish', index, content: finishedBlock(block) });
  }

  #event(data: Record<string, unknown>): GraphEvent {
    const run = this.#runId === undefined ? {} : { run_id: this.#runId };
    return { method: 'messages', params: { ...this.#place, timestamp: Date.now(), data: { ...data, ...run } } };
  }
}

/** Returns the blocks of a chunk or a message, each with a key that chunks of the same block share. */
function* blocksOf(message: Message): Generator<[key: unknown, Block]> {
  const { content, tool_call_chunks: chunks, tool_calls: calls } = message;
  if (typeof content === 'string') {
    if (content !== '') yield ['text', { type: 'text', text: content }];
  } else if (Array.isArray(content)) {
    for (const [offset, part] of content.entries()) {
      const block: Block = typeof part === 'string' ? { type: 'text', text: part } : part;
      yield [`${block.type} ${block.index ?? offset}`, block];
    }
  }
  if (Array.isArray(chunks)) {
    for (const chunk of chunks) yield [`call ${chunk.index ?? 0}`, { ...chunk, type: 'tool_call_chunk' }];
  } else if (Array.isArray(calls)) {
    for (const call of calls) {
      yield [`call ${call.id}`, { ...call, type: 'tool_call_chunk', args: JSON.stringify(call.args) }];
    }
  }
}

function emptyBlock(block: Block): Block {
  if (block.type === 'text') return { type: 'text', text: '' };
  if (block.type === 'reasoning') return { type: 'reasoning', reasoning: '' };
  if (block.type !== 'tool_call_chunk') return { ...block };
  return { type: 'tool_call_chunk', id: block.id ?? null, name: block.name ?? null, args: '' };
}

/** Adds a chunk to its block. Returns the change; undefined when there is none. */
function appendTo(whole: Block, block: Block): Record<string, unknown> | undefined {
  if (block.type === 'text' || block.type === 'reasoning') {
    const added = block[block.type];
    if (typeof added !== 'string' || added === '') return undefined;
    whole[block.type] = String(whole[block.type] ?? '') + added;
    return { type: `${block.type}-delta`, [block.type]: added };
  }
  if (block.type !== 'tool_call_chunk') return undefined;
  whole.id ??= block.id;
  whole.name ??= block.name;
  whole.args = String(whole.args ?? '') + String(block.args ?? '');
  // A block delta replaces fields: it has the arguments as far as they have come.
  return { type: 'block-delta', fields: { ...whole } };
}

function finishedBlock(block: Block): Block {
  if (block.type !== 'tool_call_chunk') return block;
  const { id, name, args } = block;
  try {
    return { type: 'tool_call', id, name, args: args === '' ? {} : JSON.parse(String(args)) };
  } catch {
    return { type: 'invalid_tool_call', id, name, args, error: 'The arguments are not JSON.' };
  }
}
