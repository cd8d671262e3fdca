import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  how: Annotation<'exit' | 'crash' | 'oom' | 'loop' | 'block' | 'huge' | 'flood' | 'throw'>,
  /** Bytes of the state that `huge` makes. */
  bytes: Annotation<number>,
  /** Milliseconds for which `block` does not return to the event loop. */
  blockMs: Annotation<number>,
  text: Annotation<string>,
});

/** Harms its process as code in production does one day. */
const harms: Record<(typeof State.State)['how'], (state: typeof State.State) => object | Promise<object>> = {
  exit: () => process.exit(7),
  crash: () => process.abort(),
  oom: () => {
    const held: number[][] = [];
    for (;;) held.push(new Array(1_000_000).fill(held.length));
  },
  loop: () => {
    for (;;);
  },
  block: ({ blockMs }) => {
    const until = performance.now() + blockMs;
    while (performance.now() < until);
    return {};
  },
  flood: () => {
    for (let line = 0; line < 200_000; line += 1) console.log(`line ${line} ${'x'.repeat(200)}`);
    return {};
  },
  throw: () => {
    setTimeout(() => {
      throw new TypeError('where nobody can catch it');
    }, 10);
    return new Promise<never>(() => undefined);
  },
  huge: ({ bytes }) => ({ text: 'x'.repeat(bytes) }),
};

export const graph = new StateGraph(State)
  .addNode('harm', (state) => harms[state.how](state))
  .addEdge(START, 'harm')
  .addEdge('harm', END)
  .compile();
