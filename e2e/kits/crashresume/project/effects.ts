import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  /** The address that takes the effects. */
  effects: Annotation<string>,
  item: Annotation<string>,
  done: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

/** The id is read while the worker certainly lives: a process whose parent has ended gets another one. */
const worker = process.ppid;

/** Returns a node that has one effect: a request with an idempotency key, which says too what to kill. */
function effect(kind: string) {
  return async ({ effects, item }: typeof State.State, { configurable, signal }: LangGraphRunnableConfig) => {
    const key = `${item}:${kind}`;
    const body = JSON.stringify({ key, kind, thread: configurable?.thread_id, worker, host: process.pid });
    const { ok, status } = await fetch(effects, { method: 'POST', body, ...(signal && { signal }) });
    if (!ok) throw new Error(`The effect ${key} answered ${status}`);
    return { done: [key] };
  };
}

/** Has three effects for each item, one after another. */
export const graph = new StateGraph(State)
  .addNode('reserve', effect('reserve'))
  .addNode('charge', effect('charge'))
  .addNode('ship', effect('ship'))
  .addEdge(START, 'reserve')
  .addEdge('reserve', 'charge')
  .addEdge('charge', 'ship')
  .addEdge('ship', END)
  .compile();
