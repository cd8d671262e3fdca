import { Annotation, END, getStore, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  /** The owner of the notes; left out for everybody's. */
  owner: Annotation<string | undefined>,
  remember: Annotation<string>,
  /** The text to search for by meaning. */
  about: Annotation<string | undefined>,
  recalled: Annotation<string[]>,
  scores: Annotation<(number | null)[]>,
});

/** Makes a graph that keeps notes in the long-term store. A factory, called for each use. */
export function makeGraph() {
  return new StateGraph(State)
    .addNode('keep', async ({ owner, remember }, config: LangGraphRunnableConfig) => {
      await config.store?.put(namespaceOf(owner), remember, { text: remember });
      return {};
    })
    .addNode('recall', async ({ owner, about }) => {
      const found = (await getStore()?.search(namespaceOf(owner), about ? { query: about } : {})) ?? [];
      const texts = found.map((item) => String(item.value.text));
      return { recalled: about ? texts : texts.sort(), scores: found.map(({ score }) => score ?? null) };
    })
    .addEdge(START, 'keep')
    .addEdge('keep', 'recall')
    .addEdge('recall', END)
    .compile();
}

function namespaceOf(owner: string | undefined): string[] {
  return owner === undefined ? ['notes'] : ['notes', owner];
}
