/**
 * The same loop as in `hello-agent`, with a real chat model: the model decides, a tool acts, until there is an answer.
 */
import { SystemMessage } from '@langchain/core/messages';
import { END, type LangGraphRunnableConfig, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { chatModel } from './model.ts';
import { tools } from './tools.ts';

const instructions = new SystemMessage('You are a helpful agent. Use the calculator for every sum, and be brief.');

async function agent({ messages }: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) {
  // The config carries the run's abort signal to the provider, so that a cancelled run stops paying for tokens.
  const answer = await chatModel()
    .bindTools(tools)
    .invoke([instructions, ...messages], config);
  return { messages: [answer] };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('agent', agent)
  .addNode('tools', new ToolNode(tools))
  .addEdge(START, 'agent')
  .addConditionalEdges('agent', toolsCondition, ['tools', END])
  .addEdge('tools', 'agent')
  .compile();
