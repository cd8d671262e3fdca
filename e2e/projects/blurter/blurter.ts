import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ how: Annotation<'fail' | 'crash'> });

/** Prints a secret of its deployment, and fails or crashes with it. */
export const graph = new StateGraph(State)
  .addNode('blurt', ({ how }) => {
    const secret = process.env.BLURTED;
    console.log(`printed: ${secret}`);
    console.error(JSON.stringify({ level: 'error', message: 'printed as JSON', secret }));
    if (how === 'fail') throw new Error(`failed with ${secret}`);
    setImmediate(() => {
      throw new Error(`crashed with ${secret}`);
    });
    return new Promise<never>(() => {});
  })
  .addEdge(START, 'blurt')
  .addEdge('blurt', END)
  .compile();
