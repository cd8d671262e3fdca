import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AcceptedRun, ClaimedRun } from '../src/runs/types.ts';
import { aRun, type EngineFixture, openEngine, success, writeCheckpointUnderFence } from './engine-fixture.ts';

let fixture: EngineFixture;
let worker: string;
beforeAll(async () => {
  fixture = await openEngine();
  worker = await fixture.worker();
});
afterAll(() => fixture.close());

async function claimed(overrides: Partial<AcceptedRun> = {}): Promise<ClaimedRun> {
  const { run } = await fixture.engine.createRun(aRun(overrides));
  const runs = await fixture.engine.claimRuns(worker, 100);
  return runs.find(({ runId }) => runId === run.runId)!;
}

async function write(run: ClaimedRun, checkpointId: string, namespace = ''): Promise<void> {
  const client = await fixture.pool.connect();
  expect(await writeCheckpointUnderFence(client, run, checkpointId, namespace)).toBe('written');
  client.release();
}

async function threadOf(run: ClaimedRun) {
  const [thread] = await fixture.rows(
    `SELECT t.status, t.error, s."values", s.interrupts, s.checkpoint_id, t.state_updated_at > t.created_at AS is_updated
     FROM thread t LEFT JOIN thread_state s USING (thread_id) WHERE t.thread_id = $1`,
    [run.threadId],
  );
  return thread;
}

it('a finished run keeps its result, its thread gets the values and is idle, and its event is published', async () => {
  const run = await claimed({ keepsThread: true });
  const values = Buffer.from('{"text":"a\\u0000b"}');
  const finished = await fixture.engine.finishRun(success(run, { values, firstEventId: '5-0' }));
  expect(finished).toEqual({
    status: 'success',
    isRolledBack: false,
    isRollingBack: false,
    error: null,
    hasNextRun: false,
    cancelledForMs: null,
  });
  expect(await fixture.engine.getRun(run.threadId, run.runId)).toMatchObject({
    status: 'success',
    firstEventId: '5-0',
    error: null,
  });
  const valuesBytes = values.byteLength;
  const outcome = { status: 'success', error: null, valuesBytes };
  expect(await fixture.engine.readOutcome(run)).toEqual({ ...outcome, values });
  expect(await fixture.engine.readOutcome(run, valuesBytes)).toEqual({ ...outcome, values });
  expect(await fixture.engine.readOutcome(run, valuesBytes - 1)).toEqual({ ...outcome, values: null });
  expect(await threadOf(run)).toMatchObject({ status: 'idle', values, interrupts: null, is_updated: true });
  const events = await fixture.rows('SELECT event FROM outbox WHERE key = $1 ORDER BY id', [run.threadId]);
  expect(events.map(({ event }) => (event as { type: string }).type)).toEqual([
    'runyard.run.created',
    'runyard.run.started',
    'runyard.run.finished',
  ]);
});

it('an interrupt leaves the run as a success and the thread as interrupted', async () => {
  const run = await claimed({ keepsThread: true });
  const interrupts = Buffer.from('{"task":[{"id":"1","value":"ok?"}]}');
  await fixture.engine.finishRun(success(run, { threadStatus: 'interrupted', interrupts }));
  expect(await fixture.engine.getRun(run.threadId, run.runId)).toMatchObject({ status: 'success' });
  expect(await threadOf(run)).toMatchObject({ status: 'interrupted', interrupts });
});

it.each(['interrupted', 'error'] as const)(
  'a thread keeps its interrupts when the answering run ends as %s before its first checkpoint, and forgets them after',
  async (status) => {
    const first = await claimed({ keepsThread: true });
    const { threadId } = first;
    const interrupts = Buffer.from('{"task":[{"id":"1","value":"ok?"}]}');
    const values = Buffer.from('{"n":1}');
    const asked = success(first, { threadStatus: 'interrupted', interrupts, checkpointId: '1' });
    await write(first, '1');
    await fixture.engine.finishRun(asked);
    const end = { status, threadStatus: status, values, error: null };

    const answering = await claimed({ threadId });
    // A graph inside of the root's writes checkpoints before the root has passed its own.
    await write(answering, '2', 'child:1');
    await fixture.engine.finishRun(success(answering, { ...end, checkpointId: '1' }));
    expect(await threadOf(answering)).toMatchObject({ status, values, interrupts });

    const again = await claimed({ threadId });
    await write(again, '3');
    await fixture.engine.finishRun(success(again, { ...end, checkpointId: '3' }));
    expect(await threadOf(again)).toMatchObject({ status, interrupts: null });
  },
);

it('a failed run stores the error on itself and on its thread, and keeps earlier values', async () => {
  const threadId = await fixture.thread();
  const values = Buffer.from('{"n":1}');
  const first = await claimed({ threadId });
  await fixture.engine.finishRun(success(first, { values }));
  const run = await claimed({ threadId });
  const error = { error: 'ValueError', message: 'no\u0000t now' };
  const stored = { error: 'ValueError', message: 'no\ufffdt now' };
  await fixture.engine.finishRun(
    success(run, { status: 'error', threadStatus: 'error', error, values: null, checkpointId: null }),
  );
  expect(await fixture.engine.getRun(threadId, run.runId)).toMatchObject({ status: 'error', error: stored });
  expect(await threadOf(run)).toMatchObject({ status: 'error', error: stored, values });

  const next = await claimed({ threadId });
  await fixture.engine.finishRun(success(next));
  expect(await threadOf(next)).toMatchObject({ status: 'idle', error: null });
});

it('the result of a stateless run can be read, and its thread is deleted', async () => {
  const run = await claimed();
  await fixture.engine.finishRun(success(run));
  expect(await fixture.engine.getRun(run.threadId, run.runId)).toMatchObject({ status: 'success' });
  expect(await fixture.rows('SELECT 1 FROM thread_fence WHERE thread_id = $1', [run.threadId])).toEqual([]);
});

it('many runs finish in common transactions, each with its own result', async () => {
  const inputs = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const threadId = await fixture.thread();
      return aRun({ threadId, kwargs: { index } });
    }),
  );
  await Promise.all(inputs.map((input) => fixture.engine.createRun(input)));
  const runs = await fixture.engine.claimRuns(worker, 100);
  await Promise.all(
    runs.map((run) =>
      fixture.engine.finishRun(success(run, { values: Buffer.from(JSON.stringify(run.kwargs)), checkpointId: null })),
    ),
  );
  for (const { runId, threadId, kwargs } of inputs) {
    const outcome = await fixture.engine.readOutcome({ threadId: threadId!, runId });
    expect(outcome?.values?.toString()).toBe(JSON.stringify(kwargs));
  }
});
