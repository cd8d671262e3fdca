import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ text: Annotation<string> });

const child = new StateGraph(State)
  .addNode('shout', (state) => ({ text: `${state.text}!` }))
  .addEdge(START, 'shout')
  .addEdge('shout', END)
  .compile();

/** A graph with a graph inside. */
export const graph = new StateGraph(State)
  .addNode('child', child)
  .addEdge(START, 'child')
  .addEdge('child', END)
  .compile();
