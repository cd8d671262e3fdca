import { setTimeout as pause } from 'node:timers/promises';
import { Annotation, interrupt, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  /** The place of the first questions. */
  where: Annotation<'node' | 'beside' | 'inside' | 'memory'>,
  /** Milliseconds that a node takes before it asks, and again when it has its answer. */
  sleepMs: Annotation<number>,
  /** Question and answer, as often as the graph applied it. */
  answers: Annotation<[string, unknown][]>({ reducer: (before, more) => before.concat(more), default: () => [] }),
});

const ask = (question: string) => async (state: typeof State.State, config: LangGraphRunnableConfig) => {
  await pause(state.sleepMs, undefined, { signal: config.signal });
  const answer = interrupt(question);
  await pause(state.sleepMs, undefined, { signal: config.signal });
  return { answers: [[question, answer] as [string, unknown]] };
};

/** Asks twice, in a step each. */
const inner = new StateGraph(State)
  .addNode('first', ask('first'))
  .addNode('second', ask('second'))
  .addEdge(START, 'first')
  .addEdge('first', 'second');

/**
 * Asks in a node, in two parallel nodes, or in a subgraph with a checkpointer of its own or without, and once more at
 * the end.
 */
export const graph = new StateGraph(State)
  .addNode('node', ask('first'))
  .addNode('left', ask('left'))
  .addNode('right', ask('right'))
  .addNode('inside', inner.compile())
  .addNode('memory', inner.compile({ checkpointer: true }))
  .addNode('last', ask('last'))
  .addConditionalEdges(START, ({ where }) => (where === 'beside' ? ['left', 'right'] : [where]))
  .addEdge(['left', 'right'], 'last')
  .addEdge('node', 'last')
  .addEdge('inside', 'last')
  .addEdge('memory', 'last')
  .compile();
