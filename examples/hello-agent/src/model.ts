/**
 * A chat model that needs no key: instead of a neural network a few rules decide, and the answer is streamed word by
 * word. Everything around it sees a chat model like any other, which is why swapping in a real one is a change of one
 * line.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import { type Decision, decide } from './rules.ts';

export class RuleModel extends BaseChatModel {
  readonly #wordDelayMs: number;

  constructor({ wordDelayMs }: { wordDelayMs: number }) {
    super({});
    this.#wordDelayMs = wordDelayMs;
  }

  _llmType(): string {
    return 'rules';
  }

  /** Streams the answer; used whenever somebody listens. */
  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const part of partsOf(decide(messages), messages.length)) {
      await sleep(this.#wordDelayMs, undefined, { signal: options.signal });
      yield part;
      await runManager?.handleLLMNewToken(part.text, undefined, undefined, undefined, undefined, { chunk: part });
    }
  }

  /** Returns the whole answer at once: the same chunks, put together. */
  async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined;
    for await (const part of this._streamResponseChunks(messages, options)) whole = whole?.concat(part) ?? part;
    return { generations: whole ? [whole] : [] };
  }
}

/** Splits an answer into words; a tool call is one part. */
function partsOf({ text, toolCall }: Decision, position: number): ChatGenerationChunk[] {
  if (!toolCall) return text.split(/(?<=\s)/).map((word) => chunk(word));
  // The id only has to differ within the conversation.
  const call = { name: toolCall.name, args: JSON.stringify(toolCall.args), id: `call_${position}`, index: 0 };
  return [chunk('', { tool_call_chunks: [{ ...call, type: 'tool_call_chunk' }] })];
}

function chunk(text: string, fields: Partial<AIMessageChunk> = {}): ChatGenerationChunk {
  return new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text, ...fields }) });
}
