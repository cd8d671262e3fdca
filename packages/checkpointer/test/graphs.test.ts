import { randomUUID } from 'node:crypto';
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import {
  Annotation,
  Command,
  DeltaValue,
  END,
  interrupt,
  MemorySaver,
  messagesStateReducer,
  ReducedValue,
  Send,
  START,
  StateGraph,
  StateSchema,
} from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import * as checkpointModule from '@langchain/langgraph-checkpoint';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createSaver } from '../src/index.ts';
import { type DeploymentDatabase, openCheckpoints, openDeploymentDatabase, takeOver } from './deployment-database.ts';

let database: DeploymentDatabase;

beforeAll(async () => {
  database = await openDeploymentDatabase();
});
afterAll(() => database.close());

/** Creates the saver of a new process: its own pool, nothing remembered, the thread taken over. */
async function newProcess(threadId: string): Promise<BaseCheckpointSaver> {
  const pool = database.openPool();
  const fence = await takeOver(pool, { threadId });
  return createSaver(checkpointModule, openCheckpoints(pool).forRun(fence));
}

const onThread = (threadId: string, more: Record<string, unknown> = {}) => ({
  configurable: { thread_id: threadId, ...more },
});

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const Steps = Annotation.Root({
  steps: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  constant: Annotation<string>(),
});

/** A graph of three nodes in a row; only the input writes the channel `constant`. */
const line = new StateGraph(Steps)
  .addNode('one', () => ({ steps: ['one'] }))
  .addNode('two', () => ({ steps: ['two'] }))
  .addNode('three', () => ({ steps: ['three'] }))
  .addEdge(START, 'one')
  .addEdge('one', 'two')
  .addEdge('two', 'three')
  .addEdge('three', END);

describe('after a restart', () => {
  it('a thread has its state and its whole history', async () => {
    const threadId = randomUUID();
    await line
      .compile({ checkpointer: await newProcess(threadId) })
      .invoke({ steps: ['in'], constant: 'c' }, onThread(threadId));
    const graph = line.compile({ checkpointer: await newProcess(threadId) });
    expect((await graph.getState(onThread(threadId))).values).toEqual({
      steps: ['in', 'one', 'two', 'three'],
      constant: 'c',
    });
    const history = await collected(graph.getStateHistory(onThread(threadId)));
    expect(history.map(({ next }) => next[0])).toEqual([undefined, 'three', 'two', 'one', '__start__']);
    expect(history.slice(0, 4).map(({ values }) => values.constant)).toEqual(['c', 'c', 'c', 'c']);
    await graph.invoke({ steps: ['again'] }, onThread(threadId));
    expect((await graph.getState(onThread(threadId))).values.steps).toHaveLength(8);
  });

  it('an interrupted thread resumes where it stopped', async () => {
    const asked: string[] = [];
    const graph = new StateGraph(Steps)
      .addNode('ask', () => {
        asked.push('asked');
        const answer = interrupt({ question: 'go on?' });
        return { steps: [`answer: ${answer}`] };
      })
      .addNode('after', () => ({ steps: ['after'] }))
      .addEdge(START, 'ask')
      .addEdge('ask', 'after')
      .addEdge('after', END);
    const threadId = randomUUID();
    const stopped = await graph
      .compile({ checkpointer: await newProcess(threadId) })
      .invoke({ steps: ['in'] }, onThread(threadId));
    expect(stopped).toMatchObject({ __interrupt__: [{ value: { question: 'go on?' } }] });

    const restarted = graph.compile({ checkpointer: await newProcess(threadId) });
    const state = await restarted.getState(onThread(threadId));
    expect(state.next).toEqual(['ask']);
    expect(state.tasks[0]?.interrupts[0]?.value).toEqual({ question: 'go on?' });
    const resumed = await restarted.invoke(new Command({ resume: 'yes' }), onThread(threadId));
    expect(resumed.steps).toEqual(['in', 'answer: yes', 'after']);
    expect(asked).toHaveLength(2);
  });

  it("a run that failed in the middle of a step keeps the writes of the step's other tasks", async () => {
    const ran: string[] = [];
    let isBroken = true;
    const graph = new StateGraph(Steps)
      .addNode('good', () => {
        ran.push('good');
        return { steps: ['good'] };
      })
      .addNode('bad', async () => {
        // Each turn of the event loop lets the other task run: it has finished after these.
        for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        if (isBroken) throw new Error('broken');
        return { steps: ['bad'] };
      })
      .addEdge(START, 'good')
      .addEdge(START, 'bad');
    const threadId = randomUUID();
    const compiled = graph.compile({ checkpointer: await newProcess(threadId) });
    await expect(compiled.invoke({ steps: ['in'] }, onThread(threadId))).rejects.toThrow('broken');
    isBroken = false;
    const restarted = graph.compile({ checkpointer: await newProcess(threadId) });
    const result = await restarted.invoke(null, onThread(threadId));
    expect(result.steps.toSorted()).toEqual(['bad', 'good', 'in']);
    expect(ran).toEqual(['good']);
  });
});

describe('time travel', () => {
  it('forks of one checkpoint keep their own values, even after a restart', async () => {
    const threadId = randomUUID();
    const graph = line.compile({ checkpointer: await newProcess(threadId) });
    await graph.invoke({ steps: ['in'], constant: 'c' }, onThread(threadId));
    const history = await collected(graph.getStateHistory(onThread(threadId)));
    const afterOne = history.find(({ next }) => next[0] === 'two')?.config ?? {};
    const left = await graph.updateState(afterOne, { steps: ['left'] }, 'one');
    const right = await graph.updateState(afterOne, { steps: ['right'] }, 'one');
    await graph.invoke(null, left);
    await graph.invoke(null, right);

    const restarted = line.compile({ checkpointer: await newProcess(threadId) });
    expect((await restarted.getState(left)).values.steps).toEqual(['in', 'one', 'left']);
    expect((await restarted.getState(right)).values.steps).toEqual(['in', 'one', 'right']);
    const ends = (await collected(restarted.getStateHistory(onThread(threadId))))
      .filter(({ next }) => next.length === 0)
      .map(({ values }) => values.steps);
    expect(ends).toEqual([
      ['in', 'one', 'right', 'two', 'three'],
      ['in', 'one', 'left', 'two', 'three'],
      ['in', 'one', 'two', 'three'],
    ]);
    expect((await restarted.getState(left)).values.constant).toBe('c');
  });

  it('a copy of a checkpoint has the values of its source, not those of its parent or its siblings', async () => {
    const threadId = randomUUID();
    const graph = line.compile({ checkpointer: await newProcess(threadId) });
    await graph.invoke({ steps: ['in'], constant: 'c' }, onThread(threadId));
    const history = await collected(graph.getStateHistory(onThread(threadId)));
    const afterOne = history.find(({ next }) => next[0] === 'two')?.config ?? {};
    const left = await graph.updateState(afterOne, { steps: ['left'] }, 'one');
    await graph.updateState(afterOne, { steps: ['right'] }, 'one');
    const copy = await graph.updateState(left, null, '__copy__');
    const restarted = line.compile({ checkpointer: await newProcess(threadId) });
    expect((await restarted.getState(copy)).values).toEqual({ steps: ['in', 'one', 'left'], constant: 'c' });
  });
});

/** Builds a graph with a stateful subgraph, sends, and messages. */
function richGraph() {
  const Inner = Annotation.Root({ text: Annotation<string>(), seen: Annotation<number>() });
  const inner = new StateGraph(Inner)
    .addNode('think', ({ text }) => ({ text: `${text}!`, seen: 1 }))
    .addNode('ask', ({ text }) => ({ text: `${text} ${interrupt('name?')}` }))
    .addEdge(START, 'think')
    .addEdge('think', 'ask')
    .compile();
  const Outer = Annotation.Root({
    text: Annotation<string>(),
    messages: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
    parts: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  });
  return new StateGraph(Outer)
    .addNode('inner', inner)
    .addNode('part', ({ text }: { text: string }) => ({ parts: [text.toUpperCase()] }))
    .addNode('join', ({ parts }) => ({ messages: [new AIMessage({ id: 'ai', content: parts.join(',') })] }))
    .addEdge(START, 'inner')
    .addConditionalEdges('inner', ({ text }) => text.split(' ').map((word) => new Send('part', { text: word })))
    .addEdge('part', 'join');
}

describe('a graph behaves as in memory', () => {
  it('with subgraphs, sends, messages and an interrupt inside', async () => {
    const threadId = randomUUID();
    const config = onThread(threadId);
    const memory = new MemorySaver();
    const run = async (saverOf: () => Promise<BaseCheckpointSaver>) => {
      const input = { text: 'hi there', messages: [new HumanMessage({ id: 'human', content: 'hello' })] };
      const stopped = await richGraph()
        .compile({ checkpointer: await saverOf() })
        .invoke(input, config);
      const waiting = await richGraph()
        .compile({ checkpointer: await saverOf() })
        .getState(config, { subgraphs: true });
      const result = await richGraph()
        .compile({ checkpointer: await saverOf() })
        .invoke(new Command({ resume: 'ada' }), config);
      const history = await collected(
        richGraph()
          .compile({ checkpointer: await saverOf() })
          .getStateHistory(config),
      );
      return { stopped, waiting, result, history };
    };
    const here = await run(() => newProcess(threadId));
    const there = await run(async () => memory);
    expect(shape(here)).toEqual(shape(there));
    expect(here.result.parts).toEqual(['HI', 'THERE!', 'ADA']);
  });

  it.each(['sync', 'async', 'exit'] as const)('with durability %s', async (durability) => {
    const threadId = randomUUID();
    const memory = new MemorySaver();
    const run = async (saver: BaseCheckpointSaver) => {
      const graph = line.compile({ checkpointer: saver });
      await graph.invoke({ steps: ['a'], constant: 'c' }, { ...onThread(threadId), durability });
      await graph.invoke({ steps: ['b'] }, { ...onThread(threadId), durability });
      return collected(graph.getStateHistory(onThread(threadId)));
    };
    const here = await run(await newProcess(threadId));
    expect(shape(here)).toEqual(shape(await run(memory)));
  });
});

describe('a channel that stores only what changed', () => {
  const Deltas = new StateSchema({
    log: new DeltaValue(
      z.array(z.string()).default(() => []),
      {
        reducer: (log: string[], writes: string[][]) => [...log, ...writes.flat()],
        snapshotFrequency: 5,
      },
    ),
    round: new ReducedValue(z.number().default(0), { reducer: (_: number, next: number) => next }),
  });
  const graph = new StateGraph(Deltas)
    .addNode('a', ({ round }) => ({ log: [`a${round}`], round: round + 1 }))
    .addNode('b', ({ round }) => ({ log: [`b${round}`] }))
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addEdge('b', END);

  it('has its whole value after a restart and at each point of its history', async () => {
    const threadId = randomUUID();
    const here = graph.compile({ checkpointer: await newProcess(threadId) });
    for (let turn = 0; turn < 4; turn += 1) await here.invoke({ log: [`in${turn}`] }, onThread(threadId));
    const restarted = graph.compile({ checkpointer: await newProcess(threadId) });
    const whole = [0, 1, 2, 3].flatMap((turn) => [`in${turn}`, `a${turn}`, `b${turn + 1}`]);
    expect((await restarted.getState(onThread(threadId))).values.log).toEqual(whole);
    const history = await collected(restarted.getStateHistory(onThread(threadId)));
    const lengths = history.map(({ values }) => values.log?.length ?? 0);
    expect(lengths).toEqual([12, 11, 10, 9, 9, 8, 7, 6, 6, 5, 4, 3, 3, 2, 1, 0]);
  });

  it('is read in one query, however far its last whole value is', async () => {
    const threadId = randomUUID();
    const here = graph.compile({ checkpointer: await newProcess(threadId) });
    await here.invoke({ log: ['in'] }, onThread(threadId));
    const pool = database.openPool();
    const reads = vi.spyOn(pool, 'query');
    const reader = graph.compile({
      checkpointer: createSaver(checkpointModule, openCheckpoints(pool).readOnly()),
    });
    expect((await reader.getState(onThread(threadId))).values.log).toEqual(['in', 'a0', 'b1']);
    expect(reads).toHaveBeenCalledTimes(2);
  });
});

/** Replaces ids and times, which differ from run to run. */
function shape(value: unknown): unknown {
  const names = new Map<string, string>();
  const json = JSON.stringify(value, (key, inner) => (key === 'createdAt' || key === 'ts' ? undefined : inner));
  return JSON.parse(
    json.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|"id":"[0-9a-f]{32}"/g, (id) => {
      const name = names.get(id) ?? `id-${names.size}`;
      names.set(id, name);
      return id.startsWith('"') ? `"id":"${name}"` : name;
    }),
  );
}
