import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

/** The value that a deploy changes. */
const GREETING = 'hello';

const State = Annotation.Root({ name: Annotation<string>, text: Annotation<string> });

export const graph = new StateGraph(State)
  .addNode('greet', ({ name }) => ({ text: `${GREETING} ${name} ${process.env.MARK ?? ''}`.trim() }))
  .addEdge(START, 'greet')
  .addEdge('greet', END)
  .compile();
