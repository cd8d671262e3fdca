/** Graphs that show what a worker does with a run: each step records its execution in a ledger file. */
import { appendFile, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage } from '@langchain/core/messages';
import { Annotation, END, interrupt, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  /** The file to which the steps write a line when they begin. */
  ledger: Annotation<string>(),
  /** The file of gates: a step waits until it contains the step's name. */
  gate: Annotation<string>(),
  log: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});
type State = typeof State.State;

async function note(state: State, line: string): Promise<void> {
  if (state.ledger) await appendFile(state.ledger, `${line}\n`);
}

async function passGate(state: State, name: string, signal?: AbortSignal): Promise<void> {
  if (!state.gate) return;
  while (!(await readFile(state.gate, 'utf8').catch(() => '')).includes(name)) await pause(10, undefined, { signal });
}

function step(name: string) {
  return async (state: State, config: LangGraphRunnableConfig) => {
    await note(state, name);
    await passGate(state, name, config.signal);
    return { log: [name] };
  };
}

export const echo = new StateGraph(State)
  .addNode('one', step('one'))
  .addEdge(START, 'one')
  .addEdge('one', END)
  .compile();

export const steps = new StateGraph(State)
  .addNode('one', step('one'))
  .addNode('two', step('two'))
  .addNode('three', step('three'))
  .addEdge(START, 'one')
  .addEdge('one', 'two')
  .addEdge('two', 'three')
  .addEdge('three', END)
  .compile();

/** Reads the store once its gate is open. */
export const recall = new StateGraph(State)
  .addNode('one', async (state: State, config: LangGraphRunnableConfig) => {
    await note(state, 'one');
    await passGate(state, 'one', config.signal);
    await config.store?.get(['memories'], 'one');
    return { log: ['one'] };
  })
  .addEdge(START, 'one')
  .compile();

/** Puts its log into the store, and reads it there. */
export const memorize = new StateGraph(State)
  .addNode('one', async ({ log }: State, { store }: LangGraphRunnableConfig) => {
    await store?.put(['memories'], 'one', { private_log: log, shown: 'yes' });
    const found = (await store?.search(['memories'], { filter: { shown: 'yes' } })) ?? [];
    const item = await store?.get(['memories'], 'one');
    return { log: [JSON.stringify([item?.value, ...found.map(({ value }) => value)])] };
  })
  .addEdge(START, 'one')
  .compile();

export const boom = new StateGraph(State)
  .addNode('one', () => {
    throw new TypeError('no answer from postgres://me:secret@db.internal:5432/x');
  })
  .addEdge(START, 'one')
  .compile();

/** Says where its trace goes on. */
export const traced = new StateGraph(State)
  .addNode('one', (_state: State, { configurable }: LangGraphRunnableConfig) => ({
    log: [String(configurable?.__otel_traceparent__)],
  }))
  .addEdge(START, 'one')
  .compile();

/** Notes that it was aborted. */
export const watchful = new StateGraph(State)
  .addNode('one', async (state: State, config: LangGraphRunnableConfig) => {
    await note(state, 'one');
    config.signal?.addEventListener('abort', () => void note(state, 'told to stop'));
    await passGate(state, 'one', config.signal);
    return { log: ['one'] };
  })
  .addEdge(START, 'one')
  .compile();

export const approval = new StateGraph(State)
  .addNode('ask', () => ({ log: [`answer: ${interrupt({ question: 'ok?' })}`] }))
  .addEdge(START, 'ask')
  .compile();

/** Waits before it asks, when it has been answered, and in a step of its own after that. */
async function askAtGates(state: State, config: LangGraphRunnableConfig) {
  await note(state, 'asking');
  await passGate(state, 'ask', config.signal);
  const answer = interrupt({ question: 'ok?' });
  await note(state, 'answered');
  await passGate(state, 'answer', config.signal);
  return { log: [`answer: ${JSON.stringify(answer)}`] };
}

const questionsInside = new StateGraph(State)
  .addNode('ask', askAtGates)
  .addNode('one', step('inside'))
  .addEdge(START, 'ask')
  .addEdge('ask', 'one');

const stepInside = new StateGraph(State).addNode('one', step('inside')).addEdge(START, 'one');

/** Asks in a node, in two parallel nodes, in a subgraph with a checkpointer of its own or without, or nowhere. */
export const interview = new StateGraph(
  Annotation.Root({ ...State.spec, where: Annotation<'node' | 'both' | 'inside' | 'memory' | 'remembering'>() }),
)
  .addNode('ask', askAtGates)
  .addNode('ask too', askAtGates)
  .addNode('inside', async (state, config) => ({
    log: (await questionsInside.compile().invoke({ ...state, log: [] }, config)).log,
  }))
  .addNode('memory', questionsInside.compile({ checkpointer: true }))
  .addNode('remembering', stepInside.compile({ checkpointer: true }))
  .addNode('one', step('after'))
  .addConditionalEdges(START, ({ where }) => {
    if (where === 'both') return ['ask', 'ask too'];
    return where === 'node' ? 'ask' : where;
  })
  .addEdge('ask', 'one')
  .addEdge('inside', 'one')
  .addEdge('memory', 'one')
  .addEdge('remembering', 'one')
  .compile();

export const endless = new StateGraph(State)
  .addNode('one', step('one'))
  .addNode('wait', async (state: State, config: LangGraphRunnableConfig) => {
    await note(state, 'waiting');
    await pause(3_600_000, undefined, { signal: config.signal });
    return {};
  })
  .addEdge(START, 'one')
  .addEdge('one', 'wait')
  .compile();

const Nested = Annotation.Root({ levels: Annotation<number>(), log: Annotation<string[]>() });

/** Has its own server create a run of itself, and waits for that, so many levels deep. */
export const nested = new StateGraph(Nested)
  .addNode('one', async ({ levels }) => {
    if (levels === 0) return { log: ['the innermost'] };
    const ownServer = (globalThis as unknown as Record<symbol, typeof fetch>)[Symbol.for('langgraph_api:fetch')];
    const answer = await ownServer!('/runs/wait', { method: 'POST', body: JSON.stringify({ levels: levels - 1 }) });
    const { log } = (await answer.json()) as { log: string[] };
    return { log: [...log, `level ${levels}`] };
  })
  .addEdge(START, 'one')
  .compile();

export const poison = new StateGraph(State)
  .addNode('one', async (state: State) => {
    await note(state, 'poison');
    process.kill(process.pid, 'SIGKILL');
  })
  .addEdge(START, 'one')
  .compile();

/** Never returns to the event loop, and leaves the processor to others meanwhile. */
export const loop = new StateGraph(State)
  .addNode('one', async (state: State) => {
    await note(state, 'looping');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  })
  .addEdge(START, 'one')
  .compile();

export const environment = new StateGraph(State)
  .addNode('one', () => ({ log: Object.keys(process.env).sort() }))
  .addEdge(START, 'one')
  .compile();

/** Uses ten tokens in each step. */
class MeteredModel extends BaseChatModel {
  _llmType(): string {
    return 'metered';
  }

  async _generate() {
    const usage = { input_tokens: 7, output_tokens: 3, total_tokens: 10 };
    const message = new AIMessage({ content: 'well', usage_metadata: usage });
    return { generations: [{ text: 'well', message }] };
  }
}

const model = new MeteredModel({});

async function ask(state: State, name: string, config: LangGraphRunnableConfig) {
  await note(state, name);
  await passGate(state, name, config.signal);
  await model.invoke('How is it?');
  return { log: [name] };
}

/** Asks its model in each of three steps. */
export const metered = new StateGraph(State)
  .addNode('one', (state, config) => ask(state, 'one', config))
  .addNode('two', (state, config) => ask(state, 'two', config))
  .addNode('three', (state, config) => ask(state, 'three', config))
  .addEdge(START, 'one')
  .addEdge('one', 'two')
  .addEdge('two', 'three')
  .addEdge('three', END)
  .compile();
