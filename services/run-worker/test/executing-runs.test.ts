import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, openDeployment } from './worker-fixture.ts';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await openDeployment();
  await deployment.startWorker();
});
afterAll(() => deployment.close());

async function threadOf(threadId: string) {
  const [thread] = await deployment.rows(
    'SELECT status, error, "values", interrupts FROM thread LEFT JOIN thread_state USING (thread_id) WHERE thread_id = $1',
    [threadId],
  );
  return thread!;
}

const json = (bytes: unknown) => JSON.parse((bytes as Buffer).toString());

describe('a run', () => {
  it('is executed, streamed from its metadata to its end, and its values are the thread’s', async () => {
    const run = await deployment.create('echo', { input: { gate: '' }, streamMode: ['values', 'updates'] });
    const events = await deployment.events(run);
    expect(events.map(({ event }) => event)).toEqual(['metadata', 'values', 'updates', 'values', 'end']);
    expect(JSON.parse(events[0]!.data)).toEqual({ run_id: run.runId, attempt: 1 });
    expect(events.at(-1)!.data).toBe('{"status":"success","values":{"gate":"","log":["one"]}}');

    const ended = await deployment.ended(run);
    expect(ended).toMatchObject({ status: 'success', attempt: 1, firstEventId: events[0]!.id, error: null });
    expect(json(ended.result)).toEqual({ gate: '', log: ['one'] });
    const thread = await threadOf(run.threadId);
    expect(thread).toMatchObject({ status: 'idle', error: null, interrupts: null });
    expect(json(thread.values)).toEqual({ gate: '', log: ['one'] });
  });

  it('moves the time of its thread’s state with each checkpoint, while it is in flight', async () => {
    const [ledger, gate] = [deployment.file(), deployment.file()];
    const run = await deployment.create('watchful', { input: { ledger: ledger.path, gate: gate.path } });
    await waitFor(async () => (await ledger.lines()).length === 1, { what: 'the first step' });
    await waitFor(
      async () => {
        const [thread] = await deployment.rows(
          'SELECT 1 FROM thread WHERE thread_id = $1 AND status = $2 AND state_updated_at > created_at',
          [run.threadId, 'busy'],
        );
        return thread;
      },
      { what: 'the time of the state to move' },
    );
    expect(await deployment.rows('SELECT created_at FROM checkpoint WHERE thread_id = $1', [run.threadId])).not.toEqual(
      [],
    );
    await gate.write('one');
    expect(await deployment.ended(run)).toMatchObject({ status: 'success' });
  });

  it('continues from the state of the run before it, and runs of a thread keep their order', async () => {
    const threadId = await deployment.thread();
    const runs = await Promise.all(Array.from({ length: 4 }, () => deployment.create('echo', { threadId })));
    const ended = await Promise.all(runs.map((run) => deployment.ended(run)));
    expect(ended.map((run) => json(run.result).log.length)).toEqual([1, 2, 3, 4]);
  });

  it('without a thread leaves its result and nothing else', async () => {
    const run = await deployment.create('echo', { keepsThread: false });
    await deployment.events(run);
    expect(json((await deployment.ended(run)).result)).toEqual({ log: ['one'] });
    for (const table of ['checkpoint', 'thread', 'thread_fence']) {
      expect(await deployment.rows(`SELECT 1 FROM ${table} WHERE thread_id = $1`, [run.threadId])).toEqual([]);
    }
  });

  it('that fails reports its error without the secrets in it', async () => {
    const run = await deployment.create('boom');
    const events = await deployment.events(run);
    expect(events.map(({ kind }) => kind).slice(-2)).toEqual(['error', 'run.end']);
    const error = JSON.parse(events.at(-2)!.data);
    expect(error.error).toBe('TypeError');
    expect(error.message).toContain('no answer from');
    expect(error.message).not.toMatch(/secret|db\.internal/);
    expect(events.at(-1)!.data).toBe('{"status":"error"}');
    expect(await deployment.ended(run)).toMatchObject({ status: 'error', error });
    expect(await threadOf(run.threadId)).toMatchObject({ status: 'error', error });
  });

  it('that interrupts is a success, its thread waits for the answer and continues with it', async () => {
    const run = await deployment.create('approval');
    expect(await deployment.ended(run)).toMatchObject({ status: 'success' });
    const thread = await threadOf(run.threadId);
    expect(thread.status).toBe('interrupted');
    expect(Object.values(json(thread.interrupts))).toMatchObject([[{ value: { question: 'ok?' } }]]);

    const resumed = await deployment.create('approval', { threadId: run.threadId, command: { resume: 'yes' } });
    expect(json((await deployment.ended(resumed)).result)).toMatchObject({ log: ['answer: yes'] });
    expect(await threadOf(run.threadId)).toMatchObject({ status: 'idle', interrupts: null });
  });

  it('sees the variables meant for it and none of the platform’s', async () => {
    const run = await deployment.create('environment');
    const { log } = json((await deployment.ended(run)).result);
    expect(log).toContain('PATH');
    expect(log.filter((name: string) => /RUNYARD|DATABASE|REDIS|DEPLOYMENT|LEASE/.test(name))).toEqual([]);
  });
});

describe('a cancelled run', () => {
  it('stops when its worker is notified, and its thread has the reason', async () => {
    const ledger = deployment.file();
    const run = await deployment.create('endless', { input: { ledger: ledger.path } });
    await waitFor(async () => (await ledger.lines()).includes('waiting'));
    await deployment.engine.requestCancel({ threadId: run.threadId, runIds: [run.runId] }, 'interrupt', 'asked to');
    await deployment.streams.publishCancel(run);
    const events = await deployment.events(run);
    expect(events.at(-1)!.data).toMatch(/^\{"status":"interrupted"/);
    expect(events.map(({ kind }) => kind)).not.toContain('error');
    expect(await deployment.ended(run)).toMatchObject({ status: 'interrupted', error: null });
    expect(await threadOf(run.threadId)).toMatchObject({
      status: 'interrupted',
      error: { error: 'UserInterrupt', message: 'asked to' },
    });
  });

  it('stops with the next renewal of the lease when the signal is lost', async () => {
    const ledger = deployment.file();
    const run = await deployment.create('endless', { input: { ledger: ledger.path } });
    await waitFor(async () => (await ledger.lines()).includes('waiting'));
    await deployment.engine.requestCancel({ threadId: run.threadId, runIds: [run.runId] }, 'rollback', 'asked to');
    // The end carries the last values for the client that created the run. Nothing of it is kept.
    expect((await deployment.events(run)).at(-1)!.data).toMatch(/^\{"rolled_back":true,"status":"interrupted"/);
    await waitFor(async () => (await deployment.engine.getRun(run.threadId, run.runId)) === undefined);
    expect(await deployment.rows('SELECT 1 FROM checkpoint WHERE thread_id = $1', [run.threadId])).toEqual([]);
    expect(await threadOf(run.threadId)).toMatchObject({ status: 'idle', error: { error: 'UserRollback' } });
  });

  it('that is deleted stops too', async () => {
    const ledger = deployment.file();
    const run = await deployment.create('endless', { input: { ledger: ledger.path } });
    await waitFor(async () => (await ledger.lines()).includes('waiting'));
    await deployment.engine.deleteRun(run.threadId, run.runId);
    await deployment.streams.publishCancel(run);
    const next = await deployment.create('echo', { threadId: run.threadId });
    expect(await deployment.ended(next)).toMatchObject({ status: 'success' });
  });
});
