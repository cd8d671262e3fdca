/**
 * A chat model that needs no key: a function decides where a neural network would, so it answers the same way every
 * time. Everything around it sees a chat model like any other. Remove this file once you use a real one.
 */
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';

/** A text to say, or a tool to call. */
export type Step = string | { tool: string; args: Record<string, unknown> };

export class FakeModel extends BaseChatModel {
  readonly #decide: (messages: BaseMessage[]) => Step;

  constructor(decide: (messages: BaseMessage[]) => Step) {
    super({});
    this.#decide = decide;
  }

  _llmType(): string {
    return 'fake';
  }

  /** The function knows the tools. */
  override bindTools(): this {
    return this;
  }

  /** Streams a text word by word, and a call whole. */
  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const part of partsOf(this.#decide(messages), messages.length)) {
      yield part;
      await runManager?.handleLLMNewToken(part.text, undefined, undefined, undefined, undefined, { chunk: part });
    }
  }

  async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined;
    for await (const part of this._streamResponseChunks(messages, options)) whole = whole?.concat(part) ?? part;
    return { generations: whole ? [whole] : [] };
  }
}

/** Returns what a person said last. */
export function lastQuestion(messages: BaseMessage[]): string {
  return messages.findLast((message) => message.type === 'human')?.text ?? '';
}

/** Returns what tools have answered since then, by the name of the tool. */
export function toolAnswers(messages: BaseMessage[]): Record<string, string> {
  const since = messages.slice(messages.findLastIndex((message) => message.type === 'human') + 1);
  const answers = since.filter((message) => message.type === 'tool');
  return Object.fromEntries(answers.map((message) => [message.name ?? '', message.text]));
}

function partsOf(step: Step, position: number): ChatGenerationChunk[] {
  if (typeof step === 'string') return step.split(/(?<=\s)/).map((word) => chunk(word));
  // The id only has to differ within the conversation.
  const call = { name: step.tool, args: JSON.stringify(step.args), id: `call_${position}`, index: 0 };
  return [chunk('', { tool_call_chunks: [{ ...call, type: 'tool_call_chunk' }] })];
}

function chunk(text: string, fields: Partial<AIMessageChunk> = {}): ChatGenerationChunk {
  return new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text, ...fields }) });
}
