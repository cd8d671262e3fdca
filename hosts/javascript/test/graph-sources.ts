/** Sources of graphs whose schemas are only in their types. */

/** @returns code that declares `State`, with one key of the type string */
export function stateWith(key: string): string {
  return `import { Annotation } from '@langchain/langgraph';
export const State = Annotation.Root({ ${key}: Annotation<string> });`;
}

/** @param state code that declares or imports `State` */
export function graphOf(state: string): string {
  return `import { END, START, StateGraph } from '@langchain/langgraph';
${state}
export const graph = new StateGraph(State).addNode('n', () => ({})).addEdge(START, 'n').addEdge('n', END).compile();`;
}
