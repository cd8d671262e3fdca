import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  said: Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] }),
});

/** Makes a graph whose only node has the name that its configuration gives it. A factory, called for each use. */
export function graph({ configurable, context }: LangGraphRunnableConfig<{ node?: string }>) {
  const node = String(context?.node ?? configurable?.node ?? 'unnamed');
  return new StateGraph(State)
    .addNode(node, () => ({ said: [node] }))
    .addEdge(START, node)
    .addEdge(node, END)
    .compile();
}
