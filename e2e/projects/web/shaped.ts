/** Makes a graph anew for each use, by the headers of the request. */
import { Annotation, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

export function makeGraph({ configurable }: LangGraphRunnableConfig) {
  const user = String(configurable?.['x-user'] ?? 'nobody');
  return new StateGraph(Annotation.Root({ user: Annotation<string> }))
    .addNode(`greet ${user}`, () => ({ user }))
    .addEdge(START, `greet ${user}`)
    .compile();
}
