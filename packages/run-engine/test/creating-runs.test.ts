import { randomUUID } from 'node:crypto';
import { createDataCipher } from '@runyard/encryption';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '../src/scope.ts';
import { aRun, type EngineFixture, openEngine, success } from './engine-fixture.ts';

let fixture: EngineFixture;
beforeAll(async () => {
  fixture = await openEngine();
});
afterAll(() => fixture.close());

it('runs that are created together are accepted all or none, in any number', async () => {
  const batch = Array.from({ length: 300 }, () => aRun());
  expect(await fixture.engine.createRunsTogether(batch)).toHaveLength(300);
  const { runId } = batch[299]!;
  const before = (await fixture.rows('SELECT count(*)::int AS count FROM run'))[0];
  const doubled = [...Array.from({ length: 299 }, () => aRun()), aRun({ runId })];
  await expect(fixture.engine.createRunsTogether(doubled)).rejects.toMatchObject({ code: '23505' });
  expect((await fixture.rows('SELECT count(*)::int AS count FROM run'))[0]).toEqual(before);
});

describe('an accepted run', () => {
  it('is in Postgres with its event, and its thread is busy and knows graph and assistant', async () => {
    const threadId = await fixture.thread();
    const input = aRun({ threadId, metadata: { mine: 1 } });
    const { run } = await fixture.engine.createRun(input);
    expect(run).toMatchObject({ runId: input.runId, threadId, status: 'pending', attempt: 0, kwargs: input.kwargs });
    expect(await fixture.engine.getRun(threadId, input.runId)).toEqual(run);
    expect(await fixture.rows('SELECT status, metadata FROM thread WHERE thread_id = $1', [threadId])).toEqual([
      { status: 'busy', metadata: { graph_id: 'agent', assistant_id: input.assistantId } },
    ]);
    expect(await fixture.rows('SELECT topic, event FROM outbox WHERE key = $1', [threadId])).toMatchObject([
      {
        event: { type: 'runyard.run.created', subject: threadId, data: { run_id: input.runId, deployment_id: 'test' } },
      },
    ]);
  });

  it('on a missing thread is refused, or creates the thread when it may', async () => {
    const threadId = randomUUID();
    await expect(fixture.engine.createRun(aRun({ threadId }))).rejects.toMatchObject({ status: 404 });
    await fixture.engine.createRun(
      aRun({ threadId, ifThreadMissing: 'create', threadMetadata: { owner: 'me' }, assistantId: threadId }),
    );
    expect(await fixture.rows('SELECT status, metadata FROM thread WHERE thread_id = $1', [threadId])).toEqual([
      { status: 'busy', metadata: { owner: 'me', graph_id: 'agent', assistant_id: threadId } },
    ]);
  });

  it('finds and creates no thread outside of the scope of its creator, by the metadata as they are stored', async () => {
    const { engine, rows, close } = await openEngine({ cipher: createDataCipher('k'.repeat(32), 'secret_owner') });
    const create = async (owner: Record<string, unknown>, threadScope: Scope) => {
      const run = aRun({ threadId: randomUUID(), ifThreadMissing: 'create', threadMetadata: owner, threadScope });
      const created = await engine.createRun(run).catch((error: { status: number }) => error.status);
      return { created, threads: await rows('SELECT thread_id FROM thread WHERE thread_id = $1', [run.threadId]), run };
    };
    const { created, run } = await create({ owner: 'ada' }, [{ owner: 'ada' }]);
    expect(created).toMatchObject({ run: { runId: run.runId } });
    const again = { ...run, runId: aRun().runId };
    await expect(engine.createRun({ ...again, threadScope: [{ owner: 'bob' }] })).rejects.toMatchObject({
      status: 404,
    });
    await expect(engine.createRun(again)).resolves.toMatchObject({ run: { runId: again.runId } });
    expect(await create({ owner: 'ada' }, [{ owner: 'bob' }])).toMatchObject({ created: 404, threads: [] });
    const encrypted = await create({ secret_owner: 'ada' }, [{ secret_owner: 'ada' }]);
    expect(encrypted).toMatchObject({ created: 404, threads: [] });
    await close();
  });

  it('without a thread has a fence and no thread row, unless the thread is kept', async () => {
    const { run: unkept } = await fixture.engine.createRun(aRun());
    const { run: kept } = await fixture.engine.createRun(aRun({ keepsThread: true }));
    const ids = [unkept.threadId, kept.threadId];
    const threads = await fixture.rows('SELECT thread_id FROM thread WHERE thread_id = ANY($1)', [ids]);
    const fences = await fixture.rows('SELECT thread_id FROM thread_fence WHERE thread_id = ANY($1)', [ids]);
    expect(threads).toEqual([{ thread_id: kept.threadId }]);
    expect(fences).toHaveLength(2);
  });

  it('without a thread has the id that its caller chose, which nothing else has as long as it is in flight', async () => {
    const statelessThreadId = randomUUID();
    const chosen = () => fixture.engine.createRun(aRun({ statelessThreadId, keepsThread: false }));
    const many = await Promise.allSettled([chosen(), chosen(), chosen()]);
    const made = many.filter((each) => each.status === 'fulfilled').map(({ value }) => value.run);
    expect(made).toMatchObject([{ threadId: statelessThreadId, keepsThread: false }]);
    const refused = { status: 409, code: 'thread_exists' };
    for (const each of many) if (each.status === 'rejected') expect(each.reason).toMatchObject(refused);
    expect(await fixture.rows('SELECT 1 FROM thread WHERE thread_id = $1', [statelessThreadId])).toEqual([]);
    const kept = await fixture.thread();
    const onThread = fixture.engine.createRun(aRun({ statelessThreadId: kept, keepsThread: false }));
    await expect(onThread).rejects.toMatchObject(refused);
  });

  it('that many processes create for the same new thread creates it once, and keeps the order of acceptance', async () => {
    const threadId = randomUUID();
    const inputs = Array.from({ length: 50 }, () => aRun({ threadId, ifThreadMissing: 'create' }));
    await Promise.all(inputs.map((input) => fixture.engine.createRun(input)));
    const listed = await fixture.engine.listRuns({ threadId, limit: 100, offset: 0 });
    expect(listed.map((run) => run.runId).reverse()).toEqual(inputs.map((input) => input.runId));
  });
});

it('a run that answers another is refused once a third has followed that one', async () => {
  const threadId = await fixture.thread();
  const { run: asking } = await fixture.engine.createRun(aRun({ threadId }));
  await fixture.engine.requestCancel({ threadId, runIds: [asking.runId] }, 'interrupt', 'It is over.');
  const answer = () => fixture.engine.createRun(aRun({ threadId, followsRunId: asking.runId }));
  const { run: first } = await answer();
  await fixture.engine.requestCancel({ threadId, runIds: [first.runId] }, 'interrupt', 'It is over.');
  await expect(answer()).rejects.toMatchObject({ status: 409, code: 'thread_busy' });
  expect(await fixture.engine.listRuns({ threadId, limit: 10, offset: 0 })).toHaveLength(2);
});

describe('one batch', () => {
  it('returns a conflict for its item alone', async () => {
    const busy = await fixture.thread();
    const idle = await fixture.thread();
    await fixture.engine.createRun(aRun({ threadId: busy }));
    const [refused, missing, accepted] = await Promise.allSettled([
      fixture.engine.createRun(aRun({ threadId: busy, multitaskStrategy: 'reject' })),
      fixture.engine.createRun(aRun({ threadId: randomUUID() })),
      fixture.engine.createRun(aRun({ threadId: idle, multitaskStrategy: 'reject' })),
    ]);
    expect(refused).toMatchObject({
      reason: {
        status: 409,
        message: 'Thread is already running a task. Wait for it to finish or choose a different multitask strategy.',
      },
    });
    expect(missing).toMatchObject({ reason: { status: 404, message: 'Thread or assistant not found.' } });
    expect(accepted.status).toBe('fulfilled');
  });

  it('does not fail because of an item that Postgres refuses', async () => {
    const taken = aRun();
    await fixture.engine.createRun(taken);
    const inputs = [aRun(), { ...aRun(), runId: taken.runId }, aRun(), aRun({ assistantId: 'not a uuid' }), aRun()];
    const results = await Promise.allSettled(inputs.map((input) => fixture.engine.createRun(input)));
    expect(results.map((result) => result.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
  });

  it('accepts U+0000 and lone surrogates: replaced where text is searched, kept in the arguments', async () => {
    const nul = 'a\u0000b\ud800';
    const input = aRun({ keepsThread: true, metadata: { [nul]: nul }, kwargs: { input: nul }, graphId: 'g\u0000' });
    const { run } = await fixture.engine.createRun(input);
    const stored = await fixture.engine.getRun(run.threadId, run.runId);
    expect(stored).toMatchObject({ metadata: { 'a\ufffdb\ufffd': 'a\ufffdb\ufffd' }, kwargs: { input: nul } });
  });
});

describe('a new run on a busy thread', () => {
  it('waits its turn under enqueue', async () => {
    const threadId = await fixture.thread();
    await fixture.engine.createRun(aRun({ threadId }));
    const { run, cancelled } = await fixture.engine.createRun(aRun({ threadId }));
    expect(run.status).toBe('pending');
    expect(cancelled).toEqual([]);
  });

  it.each(['interrupt', 'rollback'] as const)(
    'cancels the running one under %s, and ends the waiting ones',
    async (strategy) => {
      const threadId = await fixture.thread();
      const worker = await fixture.worker();
      const first = await fixture.engine.createRun(aRun({ threadId }));
      const claimed = await claimAll(worker);
      const running = claimed.find((run) => run.threadId === threadId)!;
      const waiting = await fixture.engine.createRun(aRun({ threadId }));
      const { cancelled } = await fixture.engine.createRun(aRun({ threadId, multitaskStrategy: strategy }));
      expect(cancelled.map(({ runId, outcome, action }) => ({ runId, outcome, action }))).toEqual(
        expect.arrayContaining([
          { runId: first.run.runId, outcome: 'ordered', action: strategy },
          { runId: waiting.run.runId, outcome: 'ended', action: strategy },
        ]),
      );
      expect(await fixture.engine.getRun(threadId, waiting.run.runId)).toMatchObject({ status: 'interrupted' });
      const { orders } = await fixture.engine.renewLease(worker, [running.fence]);
      expect(orders).toContainEqual(expect.objectContaining({ runId: first.run.runId, action: strategy }));

      const finished = await fixture.engine.finishRun(success(running));
      expect(finished).toMatchObject({
        status: 'interrupted',
        isRolledBack: strategy === 'rollback',
        hasNextRun: true,
      });
      expect(await fixture.rows('SELECT status FROM thread WHERE thread_id = $1', [threadId])).toEqual([
        { status: 'busy' },
      ]);
    },
  );
});

async function claimAll(worker: string) {
  const all = [];
  for (;;) {
    const claimed = await fixture.engine.claimRuns(worker, 50);
    if (claimed.length === 0) return all;
    all.push(...claimed);
  }
}
