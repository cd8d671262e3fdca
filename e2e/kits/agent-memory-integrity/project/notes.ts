import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

/** Keeps a note: each update of the state is a checkpoint with another one. */
export const graph = new StateGraph(Annotation.Root({ note: Annotation<string> }))
  .addNode('keep', ({ note }) => ({ note }))
  .addEdge(START, 'keep')
  .addEdge('keep', END)
  .compile();
