import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ question: Annotation<string>, answer: Annotation<string> });

/** One node that answers the question with itself. */
export const graph = new StateGraph(State)
  .addNode('echo', ({ question }) => ({ answer: `echo: ${question}` }))
  .addEdge(START, 'echo')
  .addEdge('echo', END)
  .compile();
