import { randomUUID } from 'node:crypto';
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import * as checkpointModule from '@langchain/langgraph-checkpoint';
import { type ClaimedRun, RunEngine } from '@runyard/run-engine';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSaver, type PendingWrite } from '../src/index.ts';
import { type DeploymentDatabase, openCheckpoints, openDeploymentDatabase } from './deployment-database.ts';

let database: DeploymentDatabase;
let engine: RunEngine;
const workerId = randomUUID();
beforeAll(async () => {
  database = await openDeploymentDatabase();
  engine = new RunEngine({ pool: database.pool, deploymentId: 'test', source: '/runyard/test' });
  await engine.registerWorker({ workerId, revisionId: 'r', slots: 9 });
});
afterAll(async () => {
  await engine.close();
  await database.close();
});

const graph = new StateGraph(Annotation.Root({ answers: Annotation<string[]>() }))
  .addNode('ask', () => ({ answers: [interrupt('first?') as string, interrupt('second?') as string] }))
  .addEdge(START, 'ask')
  .addEdge('ask', END);

async function claim(threadId: string): Promise<ClaimedRun> {
  await engine.createRun({
    runId: randomUUID(),
    threadId,
    keepsThread: true,
    ifThreadMissing: 'reject',
    assistantId: randomUUID(),
    graphId: 'ask',
    metadata: {},
    kwargs: {},
    multitaskStrategy: 'enqueue',
  });
  const [run] = await engine.claimRuns(workerId, 1);
  return run!;
}

const graphOf = ({ fence }: Pick<ClaimedRun, 'fence'>) =>
  graph.compile({ checkpointer: createSaver(checkpointModule, openCheckpoints(database.pool).forRun(fence)) });
const finish = ({ fence, runId }: ClaimedRun) =>
  engine.finishRun({
    ...{ fence, runId, status: 'success', threadStatus: 'interrupted' },
    ...{ values: null, interrupts: null, checkpointId: null, error: null },
  });
const rowsOfCheckpoints = async (threadId: string) =>
  (await database.pool.query('SELECT * FROM checkpoint WHERE thread_id = $1 ORDER BY checkpoint_id', [threadId])).rows;
const rowsOf = async (table: string, threadId: string) =>
  (await database.pool.query(`SELECT * FROM ${table} WHERE thread_id = $1 ORDER BY task_id, idx`, [threadId])).rows;

it('an interrupt that a run replaced is asked again when that run is rolled back', async () => {
  const threadId = randomUUID();
  const config = { configurable: { thread_id: threadId } };
  await engine.createThread({ threadId, metadata: {}, ifExists: 'raise' });
  const asking = await claim(threadId);
  await graphOf(asking).invoke({ answers: [] }, config);
  await finish(asking);
  const before = await rowsOf('checkpoint_write', threadId);

  const answering = await claim(threadId);
  await graphOf(answering).invoke(new Command({ resume: 'yes' }), config);
  const [task] = (await graphOf(answering).getState(config)).tasks;
  expect(task!.interrupts).toMatchObject([{ value: 'second?' }]);
  expect(await rowsOf('checkpoint_write_replaced', threadId)).toHaveLength(1);
  await engine.requestCancel({ threadId }, 'rollback', 'asked');
  expect(await finish(answering)).toMatchObject({ isRolledBack: true });

  expect(await rowsOf('checkpoint_write', threadId)).toEqual(before);
  expect(await rowsOf('checkpoint_write_replaced', threadId)).toEqual([]);
  const again = await claim(threadId);
  await graphOf(again).invoke(new Command({ resume: 'no' }), config);
  const { values, tasks } = await graphOf(again).getState(config);
  expect([values.answers, tasks[0]!.interrupts[0]!.value]).toEqual([[], 'second?']);
  await finish(again);
  expect(await rowsOf('checkpoint_write_replaced', threadId)).toEqual([]);
});

it('a run also reads interrupts and answers as they were before it wrote any', async () => {
  const threadId = randomUUID();
  const config = { configurable: { thread_id: threadId } };
  await engine.createThread({ threadId, metadata: {}, ifExists: 'raise' });
  const read = async ({ fence }: ClaimedRun) => {
    const stored = await openCheckpoints(database.pool).forRun(fence).get(threadId, '');
    const shown = (writes: PendingWrite[] = []) =>
      writes.map(({ channel, value }) => `${channel} ${Buffer.from(value.data).toString()}`).sort();
    return {
      now: shown(stored!.pendingWrites),
      before: stored!.interruptsBeforeRun && shown(stored!.interruptsBeforeRun),
    };
  };
  const asking = await claim(threadId);
  await graphOf(asking).invoke({ answers: [] }, config);
  await finish(asking);

  const answering = await claim(threadId);
  const asked = await read(answering);
  expect(asked).toEqual({ now: [expect.stringContaining('first?')], before: undefined });
  await graphOf(answering).invoke(new Command({ resume: 'yes' }), config);
  const answered = await read(answering);
  expect(answered.now).toContainEqual(expect.stringMatching(/__interrupt__ .*second\?/));
  expect(answered.now).toContainEqual('__resume__ ["yes"]');
  expect(answered.before).toEqual(asked.now);
  await finish(answering);

  const next = await claim(threadId);
  expect(await read(next)).toEqual({ now: answered.now, before: undefined });
  await finish(next);
});

it('a checkpoint that a run found and put again stays when that run is rolled back', async () => {
  const threadId = randomUUID();
  const config = { configurable: { thread_id: threadId } };
  await engine.createThread({ threadId, metadata: {}, ifExists: 'raise' });
  const asking = await claim(threadId);
  await graphOf(asking).invoke({ answers: [] }, config);
  await finish(asking);
  const before = await rowsOfCheckpoints(threadId);

  const answering = await claim(threadId);
  await graphOf(answering).invoke(new Command({ resume: 'yes' }), { ...config, durability: 'exit' });
  await engine.requestCancel({ threadId }, 'rollback', 'asked');
  expect(await finish(answering)).toMatchObject({ isRolledBack: true });
  expect(await rowsOfCheckpoints(threadId)).toEqual(before);
});

/** Returns the id of a thread that waits for its first answer. */
async function askedThread(): Promise<string> {
  const threadId = randomUUID();
  await engine.createThread({ threadId, metadata: {}, ifExists: 'raise' });
  const asking = await claim(threadId);
  await graphOf(asking).invoke({ answers: [] }, { configurable: { thread_id: threadId } });
  await finish(asking);
  return threadId;
}

it('a copy of a thread whose question is being answered asks it, and takes nothing of the answer', async () => {
  const sourceId = await askedThread();
  const asked = await rowsOf('checkpoint_write', sourceId);

  const answering = await claim(sourceId);
  await graphOf(answering).invoke(new Command({ resume: 'yes' }), { configurable: { thread_id: sourceId } });
  expect(await rowsOf('checkpoint_write', sourceId)).not.toHaveLength(asked.length);
  const threadId = randomUUID();
  await engine.histories.copy({ sourceId, threadId, metadata: {} });
  const ofCopy = asked.map((row) => ({ ...row, thread_id: threadId, run_id: null, stream_position: null }));
  expect(await rowsOf('checkpoint_write', threadId)).toEqual(ofCopy);

  const config = { configurable: { thread_id: threadId } };
  const going = await claim(threadId);
  await graphOf(going).invoke(null, config);
  const [task] = (await graphOf(going).getState(config)).tasks;
  expect(task!.interrupts).toMatchObject([{ value: 'first?' }]);
  await finish(going);
  await finish(answering);

  const laterId = randomUUID();
  await engine.histories.copy({ sourceId, threadId: laterId, metadata: {} });
  expect(await rowsOf('checkpoint_write', laterId)).toHaveLength((await rowsOf('checkpoint_write', sourceId)).length);
});

it('a copy of a thread has the answers that its run in flight has got past', async () => {
  const sourceId = await askedThread();
  const first = await claim(sourceId);
  await graphOf(first).invoke(new Command({ resume: 'yes' }), { configurable: { thread_id: sourceId } });
  await finish(first);
  const second = await claim(sourceId);
  await graphOf(second).invoke(new Command({ resume: 'no' }), { configurable: { thread_id: sourceId } });
  const threadId = randomUUID();
  await engine.histories.copy({ sourceId, threadId, metadata: {} });
  const copied = await claim(threadId);
  const { values, next } = await graphOf(copied).getState({ configurable: { thread_id: threadId } });
  expect([values.answers, next]).toEqual([['yes', 'no'], []]);
  expect(await rowsOf('checkpoint_write', threadId)).toHaveLength((await rowsOf('checkpoint_write', sourceId)).length);
  await finish(copied);
  await finish(second);
});
