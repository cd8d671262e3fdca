import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ remember: Annotation<string>, recalled: Annotation<string[]> });

/** Keeps what it is told in the long-term store. A factory: called for each use. */
export function makeGraph() {
  return new StateGraph(State)
    .addNode('keep', async (state, config: LangGraphRunnableConfig) => {
      await config.store?.put(['notes'], state.remember, { text: state.remember });
      const found = (await config.store?.search(['notes'])) ?? [];
      return { recalled: found.map((item) => String(item.value.text)).sort() };
    })
    .addEdge(START, 'keep')
    .addEdge('keep', END)
    .compile();
}
