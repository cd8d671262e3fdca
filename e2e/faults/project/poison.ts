import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  how: Annotation<'exit' | 'oom' | 'loop' | 'huge'>,
  /** Of the state that `huge` makes. */
  bytes: Annotation<number>,
  text: Annotation<string>,
});

/** Does to its process what code in production does one day. */
const harms: Record<(typeof State.State)['how'], (state: typeof State.State) => Partial<typeof State.State>> = {
  exit: () => process.exit(7),
  oom: () => {
    const held: number[][] = [];
    for (;;) held.push(new Array(1_000_000).fill(held.length));
  },
  loop: () => {
    for (;;);
  },
  huge: ({ bytes }) => ({ text: 'x'.repeat(bytes) }),
};

export const graph = new StateGraph(State)
  .addNode('harm', (state) => harms[state.how](state))
  .addEdge(START, 'harm')
  .addEdge('harm', END)
  .compile();
