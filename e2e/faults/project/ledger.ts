import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Annotation, Command, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  /** The path of the file for its notes. */
  ledger: Annotation<string>,
  steps: Annotation<number>,
  sleepMs: Annotation<number>,
  /** Custom events of each step, and the bytes of each. */
  events: Annotation<number>,
  bytes: Annotation<number>,
  /** True when each step puts an item into the store, and notes the outcome. */
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

/** Puts an item while the step continues. */
async function putIntoStore(file: string, config: LangGraphRunnableConfig, step: number): Promise<void> {
  const { metadata, configurable } = config;
  const value = { attempt: metadata?.run_attempt };
  await config.store?.put(['ledger', String(configurable?.run_id)], String(step), value).then(
    () => note(file, config, step, 'stored'),
    () => note(file, config, step, 'refused'),
  );
}

/** The id is read while the worker certainly lives: a process whose parent has ended gets another one. */
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
  // Each line is one write: lines of several processes do not mix.
  appendFileSync(file, `${JSON.stringify(entry)}\n`);
}
