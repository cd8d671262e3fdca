import { setTimeout as delay } from 'node:timers/promises';
import { Annotation, Command, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  steps: Annotation<number>,
  stepMs: Annotation<number>,
  name: Annotation<string>,
  done: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

/** Takes `steps` steps of `stepMs` milliseconds each, logs what is left, and can be aborted in the middle of one. */
export const graph = new StateGraph(State)
  .addNode(
    'step',
    async (state, config: LangGraphRunnableConfig) => {
      await delay(state.stepMs, undefined, { signal: config.signal });
      const left = state.steps - 1;
      console.log(`${state.name}: ${left} left`);
      return new Command({
        update: { steps: left, done: [`${state.name}:${left}`] },
        goto: left > 0 ? 'step' : END,
      });
    },
    { ends: ['step', END] },
  )
  .addEdge(START, 'step')
  .compile();
