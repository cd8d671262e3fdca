import { AIMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { END, type LangGraphRunnableConfig, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

const model = new FakeListChatModel({ responses: ['The quick brown fox jumps over the lazy dog.'] });

/** Streams tokens from a model that needs no key, and a custom event beside them. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('talk', async (state, config: LangGraphRunnableConfig) => {
    config.writer?.({ progress: 'thinking' });
    const answer = await model.invoke(state.messages, config);
    return { messages: [new AIMessage({ content: answer.content, id: answer.id })] };
  })
  .addEdge(START, 'talk')
  .addEdge('talk', END)
  .compile();
