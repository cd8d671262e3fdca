/**
 * The agent: a loop of two nodes.
 *
 *        ┌────────────┐   tool calls   ┌───────┐
 *  ───►  │   agent    │ ─────────────► │ tools │
 *        │ (a model)  │ ◄───────────── │       │
 *        └─────┬──────┘    results     └───────┘
 *              │ an answer
 *              ▼
 *             end
 *
 * There is nothing about servers, queues or databases in here. Threads, checkpoints, streaming and the pause for
 * approval come from where the graph is deployed.
 */
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { RuleModel } from './model.ts';
import { tools } from './tools.ts';

// Swap this line for a real chat model (`new ChatOpenAI(…).bindTools(tools)`) and the rest stays as it is.
const model = new RuleModel({ wordDelayMs: Number(process.env.WORD_DELAY_MS ?? 20) });

async function agent({ messages }: typeof MessagesAnnotation.State) {
  return { messages: [await model.invoke(messages)] };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('agent', agent)
  .addNode('tools', new ToolNode(tools))
  .addEdge(START, 'agent')
  // Tool calls in the model's answer lead to `tools`, anything else ends the run.
  .addConditionalEdges('agent', toolsCondition, ['tools', END])
  .addEdge('tools', 'agent')
  .compile();
