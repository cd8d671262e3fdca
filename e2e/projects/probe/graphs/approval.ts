import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  request: Annotation<string>,
  decision: Annotation<string>,
  log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

/** Asks before it acts. */
export const graph = new StateGraph(State)
  .addNode('prepare', (state) => ({ log: [`prepared ${state.request}`] }))
  .addNode('ask', (state) => {
    const decision = interrupt<{ question: string }, string>({ question: `May I ${state.request}?` });
    return { decision, log: [`heard ${decision}`] };
  })
  .addNode('act', (state) => ({ log: [state.decision === 'yes' ? `did ${state.request}` : 'left it'] }))
  .addEdge(START, 'prepare')
  .addEdge('prepare', 'ask')
  .addEdge('ask', 'act')
  .addEdge('act', END)
  .compile();
