import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  text: Annotation<string>,
  seen: Annotation<Record<string, unknown>>,
  trail: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

/** Two nodes that leave a trail; the first shows what a graph sees of its run. */
export const graph = new StateGraph(State)
  .addNode('look', (_state, { tags, configurable, context, metadata }: LangGraphRunnableConfig) => ({
    seen: { tags, configurable: shown(configurable), context, metadata },
    trail: ['look'],
  }))
  .addNode('after', () => ({ trail: ['after'] }))
  .addEdge(START, 'look')
  .addEdge('look', 'after')
  .addEdge('after', END)
  .compile();

/** Returns `configurable` without the runtime's own objects. */
function shown(configurable: Record<string, unknown> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(configurable).filter(([key]) => !key.startsWith('__')));
}
