import { FakeListChatModel } from '@langchain/core/utils/testing';
import {
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';

const approval = new StateGraph(MessagesAnnotation)
  .addNode('ask', () => ({ messages: [{ role: 'user', content: `approved: ${interrupt('send it?')}` }] }))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile();

/** Talks, asks in a subgraph whether to go on, and counts in the store how often it was allowed to. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('talk', async ({ messages }) => ({
    messages: [await new FakeListChatModel({ responses: ['Hello'] }).invoke(messages)],
  }))
  .addNode('approval', approval)
  .addNode('count', async (_state, config: LangGraphRunnableConfig) => {
    const known = await config.store?.get(['approvals'], 'count');
    await config.store?.put(['approvals'], 'count', { count: Number(known?.value.count ?? 0) + 1 });
    return {};
  })
  .addEdge(START, 'talk')
  .addEdge('talk', 'approval')
  .addEdge('approval', 'count')
  .addEdge('count', END)
  .compile();
