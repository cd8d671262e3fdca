type Block = Record<string, unknown> & { type: string };

/** A message, or a chunk of one, as objects of LangChain and their JSON both have it. */
export interface BlockMessage {
  content?: unknown;
  tool_call_chunks?: unknown;
  tool_calls?: unknown;
  usage_metadata?: unknown;
  [key: string]: unknown;
}

/** The facts about a message that its beginning tells. */
export interface MessageBeginning {
  id: string;
  /** `human`, `system`, `tool`; anything else is the model. */
  type: string;
  toolCallId?: unknown;
  /** The id of the model's own run. */
  runId?: unknown;
}

const ROLES: Record<string, string> = { human: 'human', system: 'system', tool: 'tool' };

/** Makes the data of the events of channel `messages` for one message, from its chunks or from the whole of it. */
export class MessageBlocks {
  readonly #runId: unknown;
  readonly #start: Record<string, unknown>;
  #hasBegun = false;
  #hasCalls = false;
  #text = '';
  /** The block that has begun; its deltas are put together in it. */
  #open: { index: number; key: unknown; block: Block } | undefined;
  #count = 0;
  #usage: unknown;

  constructor({ id, type, toolCallId, runId }: MessageBeginning) {
    this.#runId = runId;
    this.#start = {
      role: ROLES[type] ?? 'ai',
      id,
      ...(typeof toolCallId === 'string' && { tool_call_id: toolCallId }),
    };
  }

  /** The text that was added so far. */
  get text(): string {
    return this.#text;
  }

  /** True when a call of a tool was added. */
  get hasCalls(): boolean {
    return this.#hasCalls;
  }

  *add(message: BlockMessage): Generator<Record<string, unknown>> {
    if (!this.#hasBegun) yield this.#event({ event: 'message-start', ...this.#start });
    this.#hasBegun = true;
    for (const [key, block] of blocksOf(message)) yield* this.#addBlock(key, block);
    this.#usage = message.usage_metadata ?? this.#usage;
  }

  *end(): Generator<Record<string, unknown>> {
    yield* this.#finishBlock();
    yield this.#event({ event: 'message-finish', ...(this.#usage ? { usage: this.#usage } : {}) });
  }

  *#addBlock(key: unknown, block: Block): Generator<Record<string, unknown>> {
    if (block.type === 'tool_call_chunk') this.#hasCalls = true;
    else if (block.type === 'text' && typeof block.text === 'string') this.#text += block.text;
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

  *#finishBlock(): Generator<Record<string, unknown>> {
    if (!this.#open) return;
    const { index, block } = this.#open;
    this.#open = undefined;
    yield this.#event({ event: 'content-block-finish', index, content: finishedBlock(block) });
  }

  #event(data: Record<string, unknown>): Record<string, unknown> {
    return this.#runId === undefined ? data : { ...data, run_id: this.#runId };
  }
}

/** Returns the blocks of a chunk or a message, each with a key that chunks of the same block share. */
function* blocksOf(message: BlockMessage): Generator<[key: unknown, Block]> {
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
