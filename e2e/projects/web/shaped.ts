/** A graph that is made anew for each use, after what the request says. */
import { Annotation, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

export function makeGraph({ configurable }: LangGraphRunnableConfig) {
  const user = String(configurable?.['x-user'] ?? 'nobody');
  return new StateGraph(Annotation.Root({ user: Annotation<string> }))
    .addNode(`greet ${user}`, () => ({ user }))
    .addEdge(START, `greet ${user}`)
    .compile();
}
