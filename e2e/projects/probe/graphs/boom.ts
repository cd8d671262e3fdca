import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

class KettleError extends Error {
  override name = 'KettleError';
}

const State = Annotation.Root({ heat: Annotation<number> });

/** Fails with a secret in its message. */
export const graph = new StateGraph(State)
  .addNode('boil', () => {
    throw new KettleError('cannot reach postgres://kettle:hunter2@db.internal:5432/tea');
  })
  .addEdge(START, 'boil')
  .addEdge('boil', END)
  .compile();
