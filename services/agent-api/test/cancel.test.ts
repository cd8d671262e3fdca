import { randomUUID } from 'node:crypto';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import type { FakeRun } from './fake-worker.ts';
import { ask, open } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment();
});
afterAll(() => deployment?.close());

const body = { assistant_id: 'echo', input: {} };
const urlOf = (run: { thread_id: string; run_id: string }) =>
  `${deployment.url}/threads/${run.thread_id}/runs/${run.run_id}`;

async function pendingRun(threadId?: string): Promise<{ thread_id: string; run_id: string }> {
  const thread_id = threadId ?? (await deployment.client.threads.create()).thread_id;
  return deployment.client.runs.create(thread_id, 'echo', { input: {} });
}

async function runningRun() {
  const run = await pendingRun();
  return { ...run, fakeRun: await deployment.worker.take() };
}

const statusOf = async (run: { thread_id: string; run_id: string }) =>
  (await deployment.client.runs.get(run.thread_id, run.run_id)).status;

/** Does what the worker of a cancelled run does. */
async function obey(fakeRun: FakeRun, values: unknown): Promise<void> {
  await deployment.worker.order(fakeRun);
  await fakeRun.interrupt(values);
}

describe('cancelling a run', () => {
  it('that waits interrupts it at once', async () => {
    const run = await pendingRun();
    expect(await ask(`${urlOf(run)}/cancel`, { method: 'POST' })).toMatchObject({ status: 202, text: '' });
    expect(await statusOf(run)).toBe('interrupted');
    expect((await deployment.client.threads.get(run.thread_id)).status).toBe('idle');
  });

  it('ends the stream of a run that never started, without an error', async () => {
    const { thread_id } = await deployment.client.threads.create();
    const answer = await open(`${deployment.url}/threads/${thread_id}/runs/stream`, { body });
    const [run] = await deployment.client.runs.list(thread_id);
    await deployment.client.runs.cancel(thread_id, run!.run_id);
    expect(await answer.complete).toBe('');
  });

  it('that runs leaves an order for its worker, and the client that waits gets the last values', async () => {
    const run = await runningRun();
    const waiting = open(`${urlOf(run)}/cancel?wait=true`, { method: 'POST' });
    await obey(run.fakeRun, { n: 1 });
    const answer = await waiting;
    expect(await answer.complete).toBe('{"n":1}');
    expect(answer.status).toBe(200);
    expect(await statusOf(run)).toBe('interrupted');
    const { status, error } = (await ask(`${deployment.url}/threads/${run.thread_id}`)).json as Record<string, unknown>;
    expect(status).toBe('interrupted');
    expect(error).toEqual({
      error: 'UserInterrupt',
      message: 'interrupt requested via POST /threads/{thread_id}/runs/{run_id}/cancel',
    });
  });

  it('with rollback leaves no trace of one that ran', async () => {
    const run = await runningRun();
    const waiting = open(`${urlOf(run)}/cancel?wait=1&action=rollback`, { method: 'POST' });
    await obey(run.fakeRun, { n: 1 });
    expect(await (await waiting).complete).toBe('{}');
    expect((await ask(urlOf(run))).status).toBe(404);
    expect((await ask(`${deployment.url}/threads/${run.thread_id}`)).json).toMatchObject({
      status: 'idle',
      error: { error: 'UserRollback' },
    });
  });

  it('whose worker is lost ends it as ordered without a worker, and answers the client that waits', async () => {
    for (const action of ['interrupt', 'rollback']) {
      const run = await runningRun();
      await deployment.pool.query('DELETE FROM worker');
      const { text } = await ask(`${urlOf(run)}/cancel?wait=true&action=${action}`, { method: 'POST' });
      expect(text.trim()).toBe('{}');
      const left = await ask(urlOf(run));
      if (action === 'rollback') expect(left.status).toBe(404);
      else expect(left.json).toMatchObject({ status: 'interrupted' });
      const thread = await deployment.client.threads.get(run.thread_id);
      expect(thread.status).toBe(action === 'rollback' ? 'idle' : 'interrupted');
      await expect(run.fakeRun.finishUnpublished('success', {}, null)).rejects.toThrow('taken over');
      await deployment.worker.register();
    }
  });

  it('that waits for another attempt, with rollback, deletes it before its client is answered, and not as missing', async () => {
    const run = await runningRun();
    await deployment.worker.engine.releaseRun(run.fakeRun.claimed.fence);
    const answer = await ask(`${urlOf(run)}/cancel?wait=true&action=rollback`, { method: 'POST' });
    expect(answer).toMatchObject({ status: 200, json: {} });
    expect(answer.text.trim()).toBe('{}');
    expect((await ask(urlOf(run))).status).toBe(404);
  });

  it('that has ended or is unknown answers 404', async () => {
    const run = await runningRun();
    await run.fakeRun.succeed({});
    expect(await ask(`${urlOf(run)}/cancel`, { method: 'POST' })).toMatchObject({
      status: 404,
      json: { detail: 'No runs found to cancel.' },
    });
    expect((await ask(`${urlOf({ ...run, run_id: randomUUID() })}/cancel`, { method: 'POST' })).status).toBe(404);
  });
});

describe('cancelling several runs', () => {
  it('takes ids of one thread', async () => {
    const first = await pendingRun();
    const second = await pendingRun(first.thread_id);
    const third = await pendingRun(first.thread_id);
    const answer = await ask(`${deployment.url}/runs/cancel`, {
      body: { thread_id: first.thread_id, run_ids: [first.run_id, second.run_id] },
    });
    expect(answer.status).toBe(204);
    expect(await Promise.all([first, second, third].map(statusOf))).toEqual(['interrupted', 'interrupted', 'pending']);
    await deployment.client.runs.cancelMany({ status: 'all' });
    expect(await statusOf(third)).toBe('interrupted');
  });

  it('answers 404 when nothing is in flight, and 422 without a selection', async () => {
    expect((await ask(`${deployment.url}/runs/cancel`, { body: { status: 'all' } })).status).toBe(404);
    expect((await ask(`${deployment.url}/runs/cancel`, { body: {} })).status).toBe(422);
  });
});

describe('a client that disconnects', () => {
  it('cancels its run when it asked for that', async () => {
    for (const path of ['stream', 'wait']) {
      const { thread_id } = await deployment.client.threads.create();
      const answer = await open(`${deployment.url}/threads/${thread_id}/runs/${path}`, {
        body: { ...body, on_disconnect: 'cancel' },
      });
      const run = await deployment.worker.take();
      answer.hangUp();
      await obey(run, {});
      expect(await statusOf({ thread_id, run_id: run.claimed.runId })).toBe('interrupted');
    }
  });

  it('leaves its run alone otherwise', async () => {
    const { thread_id } = await deployment.client.threads.create();
    const answer = await open(`${deployment.url}/threads/${thread_id}/runs/stream`, { body });
    const run = await deployment.worker.take();
    await answer.until('metadata');
    answer.hangUp();
    await waitFor(async () => /^lg_api_open_streams\{.*\} 0$/m.test((await ask(`${deployment.url}/metrics`)).text));
    await run.succeed({ n: 1 });
    expect(await deployment.client.runs.join(thread_id, run.claimed.runId)).toEqual({ n: 1 });
  });

  it('cancels a run it joined with cancel_on_disconnect', async () => {
    for (const path of ['join', 'stream']) {
      const run = await runningRun();
      const answer = await open(`${urlOf(run)}/${path}?cancel_on_disconnect=1`);
      answer.hangUp();
      await obey(run.fakeRun, {});
      expect(await statusOf(run)).toBe('interrupted');
    }
  });
});

describe('deleting a run', () => {
  it('removes it, also while it is running', async () => {
    const run = await runningRun();
    expect((await ask(urlOf(run), { method: 'DELETE' })).status).toBe(204);
    expect((await ask(urlOf(run))).status).toBe(404);
    expect((await ask(urlOf(run), { method: 'DELETE' })).status).toBe(404);
    await expect(run.fakeRun.finishUnpublished('success', {}, null)).rejects.toThrow();
  });

  it('is published on its stream, so that every process can end the answers it waits for', async () => {
    const deletions = [
      { run: await runningRun(), what: urlOf },
      { run: await pendingRun(), what: urlOf },
      { run: await deployment.client.runs.create(null, 'echo'), what: urlOf },
      {
        run: await pendingRun(),
        what: ({ thread_id }: { thread_id: string }) => `${deployment.url}/threads/${thread_id}`,
      },
    ];
    for (const { run, what } of deletions) {
      const kinds: string[] = [];
      const following = (async () => {
        for await (const { kind } of deployment.worker.streams.read(run.thread_id, { runId: run.run_id })) {
          kinds.push(kind);
          if (kind === 'run.end') return;
        }
      })();
      expect((await ask(what(run), { method: 'DELETE' })).status).toBe(204);
      await following;
      expect(kinds.at(-1)).toBe('run.end');
    }
  });
});
