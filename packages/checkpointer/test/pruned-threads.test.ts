import { randomUUID } from 'node:crypto';
import { Command, DeltaValue, END, interrupt, START, StateGraph, StateSchema } from '@langchain/langgraph';
import * as checkpointModule from '@langchain/langgraph-checkpoint';
import { RunEngine } from '@runyard/run-engine';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { createSaver } from '../src/index.ts';
import { type DeploymentDatabase, openCheckpoints, openDeploymentDatabase, takeOver } from './deployment-database.ts';

let database: DeploymentDatabase;
let engine: RunEngine;
beforeAll(async () => {
  database = await openDeploymentDatabase();
  engine = new RunEngine({ pool: database.pool, deploymentId: 'test', source: '/runyard/test' });
});
afterAll(async () => {
  await engine.close();
  await database.close();
});

/** Makes a thread, and the saver of a process that has just started. */
async function newThread() {
  const threadId = randomUUID();
  await engine.createThread({ threadId, metadata: {}, ifExists: 'raise' });
  const saver = async () =>
    createSaver(checkpointModule, openCheckpoints(database.pool).forRun(await takeOver(database.pool, { threadId })));
  return { threadId, saver, config: { configurable: { thread_id: threadId } } };
}

const countOf = async (threadId: string) =>
  (await database.pool.query('SELECT 1 FROM checkpoint WHERE thread_id = $1', [threadId])).rowCount;

const Log = new StateSchema({
  log: new DeltaValue(
    z.array(z.string()).default(() => []),
    { inputSchema: z.array(z.string()), reducer: (left, writes) => [...left, ...writes.flat()], snapshotFrequency: 4 },
  ),
});
const logging = new StateGraph(Log)
  .addNode('note', () => ({ log: ['noted'] }))
  .addEdge(START, 'note')
  .addEdge('note', END);

it('channels stored as changes keep their value, whenever and however often the thread is pruned', async () => {
  const { threadId, saver, config } = await newThread();
  const whole: string[] = [];
  for (let round = 0; round < 7; round += 1) {
    const graph = logging.compile({ checkpointer: await saver() });
    await graph.invoke({ log: [`${round}`] }, config);
    whole.push(`${round}`, 'noted');
    expect(await engine.histories.prune([threadId], 'keep_latest')).toMatchObject({ prunedIds: [threadId] });
    // The count is a whole value every fourth step, and the steps of one run after it.
    expect(await countOf(threadId)).toBeLessThanOrEqual(7);
    const read = await logging.compile({ checkpointer: await saver() }).getState(config);
    expect(read.values).toEqual({ log: whole });
  }
});

it('an interrupt can be answered after the thread was pruned', async () => {
  const { threadId, saver, config } = await newThread();
  const Question = new StateSchema({ answer: z.string().default('') });
  const asking = new StateGraph(Question)
    .addNode('before', () => ({}))
    .addNode('ask', () => ({ answer: interrupt<string, string>('well?') }))
    .addEdge(START, 'before')
    .addEdge('before', 'ask')
    .addEdge('ask', END);
  await asking.compile({ checkpointer: await saver() }).invoke({}, config);
  await engine.histories.prune([threadId], 'keep_latest');
  expect(await countOf(threadId)).toBe(1);
  const graph = asking.compile({ checkpointer: await saver() });
  expect(await graph.invoke(new Command({ resume: 'yes' }), config)).toMatchObject({ answer: 'yes' });
});
