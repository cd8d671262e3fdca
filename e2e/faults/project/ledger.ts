import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Annotation, Command, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  /** Path of the file that it notes its steps in. */
  ledger: Annotation<string>,
  steps: Annotation<number>,
  sleepMs: Annotation<number>,
  /** Custom events of each step, and how many bytes each carries. */
  events: Annotation<number>,
  bytes: Annotation<number>,
  /** Each step puts an item into the store, and notes what became of it. */
  stores: Annotation<boolean>,
  done: Annotation<number[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

/** Takes `steps` steps, and notes each in the ledger as often as it is executed. */
export const graph = new StateGraph(State)
  .addNode(
    'step',
    async (state, config: LangGraphRunnableConfig) => {
      const step = state.done.length;
      note(state.ledger, config, step, 'begun');
      if (state.stores) void putIntoStore(state.ledger, config, step);
      for (let n = 0; n < (state.events ?? 0); n += 1) {
        const attempt = config.metadata?.run_attempt;
        config.writer?.({ step, n, attempt, at: Date.now(), padding: 'x'.repeat(state.bytes ?? 0) });
        if (n % 50 === 49) await pause(0);
      }
      await pause(state.sleepMs ?? 0, undefined, { signal: config.signal });
      note(state.ledger, config, step, 'done');
      return new Command({ update: { done: [step] }, goto: step + 1 < state.steps ? 'step' : END });
    },
    { ends: ['step', END] },
  )
  .addEdge(START, 'step')
  .compile();

/** Not waited for: it is under way while the step goes on. */
async function putIntoStore(file: string, config: LangGraphRunnableConfig, step: number): Promise<void> {
  const { metadata, configurable } = config;
  const value = { attempt: metadata?.run_attempt };
  await config.store?.put(['ledger', String(configurable?.run_id)], String(step), value).then(
    () => note(file, config, step, 'stored'),
    () => note(file, config, step, 'refused'),
  );
}

/** Of the time when it certainly lived: a process whose parent has ended is given another one. */
const worker = process.ppid;

type What = 'begun' | 'done' | 'stored' | 'refused';

function note(file: string, config: LangGraphRunnableConfig, step: number, what: What): void {
  const { metadata, configurable } = config;
  const entry = {
    run: configurable?.run_id,
    thread: configurable?.thread_id,
    step,
    attempt: metadata?.run_attempt,
    host: process.pid,
    worker,
    what,
    at: Date.now(),
  };
  // One write of one line: lines of several processes do not mix.
  appendFileSync(file, `${JSON.stringify(entry)}\n`);
}
