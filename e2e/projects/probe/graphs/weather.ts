import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessageChunk, type BaseMessage, ToolMessage, type UsageMetadata } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import { tool } from '@langchain/core/tools';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';

/** Requests the weather, its call in pieces as real models stream them, and then reports it word by word. */
class WeatherModel extends BaseChatModel {
  _llmType(): string {
    return 'weather';
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const part of answerTo(messages)) {
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

function answerTo(messages: BaseMessage[]): ChatGenerationChunk[] {
  const heard = messages.at(-1);
  if (ToolMessage.isInstance(heard)) {
    return heard.text.split(/(?<=\s)/).map((word, index) => chunk(word, index === 0 ? { usage_metadata: USAGE } : {}));
  }
  return [
    chunk('', { tool_call_chunks: [{ name: 'weather', id: 'call_1', index: 0, type: 'tool_call_chunk' }] }),
    chunk('', { tool_call_chunks: [{ args: '{"city":', index: 0, type: 'tool_call_chunk' }] }),
    chunk('', {
      tool_call_chunks: [{ args: '"Oslo"}', index: 0, type: 'tool_call_chunk' }],
      usage_metadata: USAGE,
    }),
  ];
}

/** The tokens that each call reports, in one of its pieces. */
const USAGE: UsageMetadata = {
  input_tokens: 120,
  output_tokens: 8,
  total_tokens: 128,
  input_token_details: { cache_read: 64 },
  output_token_details: { reasoning: 3 },
};

function chunk(text: string, fields: Partial<AIMessageChunk> = {}): ChatGenerationChunk {
  return new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text, ...fields }) });
}

const weather = tool(({ city }: { city: string }) => `It rains in ${city}.`, {
  name: 'weather',
  description: 'The weather of a city.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
});

const model = new WeatherModel({});

/** An agent with a tool, whose model streams tokens and pieces of tool calls, and needs no key. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }, config) => ({ messages: [await model.invoke(messages, config)] }))
  .addNode('tools', new ToolNode([weather]))
  .addEdge(START, 'model')
  .addConditionalEdges('model', ({ messages }) =>
    (messages.at(-1) as AIMessageChunk).tool_calls?.length ? 'tools' : END,
  )
  .addEdge('tools', 'model')
  .compile();

/** The same agent as one node of another graph. */
export const office = new StateGraph(MessagesAnnotation)
  .addNode('desk', graph)
  .addEdge(START, 'desk')
  .addEdge('desk', END)
  .compile();
