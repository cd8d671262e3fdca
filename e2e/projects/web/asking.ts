/** A graph that calls the server it runs in. */

import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import { Client } from '@langchain/langgraph-sdk';

const State = Annotation.Root({ assistants: Annotation<number>, header: Annotation<string> });

async function ask(_state: typeof State.State, config: LangGraphRunnableConfig) {
  const assistants = await new Client({ apiKey: null }).assistants.search();
  return { assistants: assistants.length, header: config.configurable?.['x-user'] ?? 'none' };
}

export const graph = new StateGraph(State).addNode('ask', ask).addEdge(START, 'ask').addEdge('ask', END).compile();
