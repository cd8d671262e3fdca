import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessageChunk, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import {
  Annotation,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  /** Pages may change it too. */
  colour: Annotation<string>,
  notes: Annotation<{ heard: number; texts: string[] }>,
});

/** Streams the pieces of its answer. */
class PiecesModel extends BaseChatModel {
  _llmType(): string {
    return 'pieces';
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    { signal }: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for await (const message of piecesOf(messages, signal)) {
      const chunk = new ChatGenerationChunk({ text: message.text, message });
      yield chunk;
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }

  async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined;
    for await (const part of this._streamResponseChunks(messages, options)) whole = whole?.concat(part) ?? part;
    return { generations: whole ? [whole] : [] };
  }
}

async function* piecesOf(messages: BaseMessage[], signal: AbortSignal | undefined): AsyncGenerator<AIMessageChunk> {
  const heard = messages.at(-1)!;
  const [word, url] = heard.text.split(' ');
  if (word === 'pick') yield* callInPieces(`call_${messages.length}`, 'pick_colour', ['{"among":["red"', ',"blue"]}']);
  else if (word === 'pause') {
    yield new AIMessageChunk('Before ');
    // Whoever asked decides when the text goes on.
    await fetch(url!, { signal });
    yield new AIMessageChunk('and after.');
  } else if (word === 'think') {
    for (const reasoning of ['Let me ', 'see.']) {
      yield new AIMessageChunk({ content: [{ type: 'reasoning', reasoning, index: 0 }] });
    }
    yield new AIMessageChunk({ content: [{ type: 'text', text: 'Done.', index: 1 }] });
  } else for (const part of `You said ${heard.text}.`.split(/(?<=\s)/)) yield new AIMessageChunk(part);
}

function* callInPieces(id: string, name: string, parts: string[]): Generator<AIMessageChunk> {
  const piece = (fields: object) =>
    new AIMessageChunk({ content: '', tool_call_chunks: [{ index: 0, type: 'tool_call_chunk', ...fields }] });
  yield piece({ id, name });
  for (const args of parts) yield piece({ args });
}

const model = new PiecesModel({});

async function answer({ messages, colour }: typeof State.State, config: LangGraphRunnableConfig) {
  const heard = messages.at(-1)!;
  if (ToolMessage.isInstance(heard)) return { colour: heard.text, messages: [await model.invoke(messages, config)] };
  if (heard.text !== 'ask') return { messages: [await model.invoke(messages, config)] };
  const decision = interrupt<{ question: string }, string>({ question: `Keep ${colour ?? 'nothing'}?` });
  return { colour: decision };
}

/** Does what pages show: a text that can be held up, a question, a call of a tool that the page has, and a state. */
export const graph = new StateGraph(State)
  .addNode('answer', answer)
  .addNode('note', ({ messages, notes }) => {
    const { heard = 0, texts = [] } = notes ?? {};
    return { notes: { heard: heard + 1, texts: [...texts, messages.at(-1)!.text] } };
  })
  .addEdge(START, 'answer')
  .addEdge('answer', 'note')
  .addEdge('note', END)
  .compile();
