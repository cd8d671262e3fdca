import type { TestServiceProcess } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import type { FakeRun } from './fake-worker.ts';
import { ask, open, type RawAnswer } from './raw-http.ts';

const input = { assistant_id: 'echo', input: {} };
const TAKES_OVER = { 'x-runyard-handover': 'accepted' };

let deployment: TestDeployment;
let staying: TestServiceProcess;
beforeAll(async () => {
  deployment = await startDeployment({ env: { BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '20', MOUNT_PREFIX: '/agents' } });
  staying = await deployment.startAnother();
});
afterAll(() => deployment?.close());

interface Followed {
  answer: RawAnswer;
  run: FakeRun;
}

/** Returns the data of all events of a kind, in order. */
const dataOfEvents = (text: string, event = 'updates') =>
  [...text.matchAll(/event: (\S+)\r\ndata: (.*)\r\n/g)].filter(([, name]) => name === event).map(([, , data]) => data);

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Followed> {
  const opening = open(`${deployment.url}/agents${path}`, { body: { ...input, ...body }, headers });
  const run = await deployment.worker.take();
  return { answer: await opening, run };
}

/** Does what the gateway does at the end of an answer. */
function continueAnswer({ trailers }: RawAnswer): Promise<RawAnswer> {
  const { 'x-runyard-handover': path, 'last-event-id': afterId } = trailers;
  expect(path).toMatch(/^\/agents\//);
  return open(staying.url + path, {
    headers: { 'x-runyard-handover': 'continued', ...(afterId !== undefined && { 'last-event-id': afterId }) },
  });
}

describe('a stop of the service', () => {
  it('hands long answers off to those who take them, ends others between two events, and completes the rest', async () => {
    const { thread_id } = (await ask(`${deployment.url}/agents/threads`, { body: {} })).json as { thread_id: string };
    const stream = { stream_mode: 'updates', on_disconnect: 'cancel' };
    const handedOver = await post('/runs/stream', stream, TAKES_OVER);
    const untold = await open(
      `${deployment.url}/agents/runs/${handedOver.run.claimed.runId}/stream?stream_mode=updates`,
      {
        headers: TAKES_OVER,
      },
    );
    const waited = await post('/runs/wait', { on_disconnect: 'cancel' }, TAKES_OVER);
    const resumable = await post(`/threads/${thread_id}/runs/stream`, { ...stream, stream_resumable: true });
    const thread = await open(`${deployment.url}/agents/threads/${thread_id}/stream`, { headers: TAKES_OVER });
    const undone = await post('/runs/wait', {}, TAKES_OVER);
    const { threadId, runId } = undone.run.claimed;
    const undoneForOthers = await open(`${deployment.url}/agents/threads/${threadId}/runs/${runId}/join`, {
      headers: TAKES_OVER,
    });
    const undoneStream = await post('/runs/stream', stream, TAKES_OVER);
    const held = await post('/runs/stream', stream);
    const heldWait = await post('/runs/wait', {});
    const all = [handedOver, waited, resumable, held, heldWait];
    const rolledBack = [undone, undoneStream];
    for (const { run } of [...all, ...rolledBack]) await run.emit('updates', { step: 1 });
    for (const { answer } of [handedOver, resumable, held, undoneStream]) await answer.until('"step":1');
    await thread.until('"step":1');

    const stopped = deployment.service.stop();
    await Promise.all([handedOver, waited, ...rolledBack].map(({ answer }) => answer.complete));
    await Promise.all([untold.complete, thread.complete, undoneForOthers.complete]);
    await expect(resumable.answer.complete).rejects.toThrow();
    for (const { run } of all) await run.emit('updates', { step: 2 });
    for (const { run } of all) await run.succeed({ done: true });
    for (const { run } of rolledBack) {
      const selection = { threadId: run.claimed.threadId, runIds: [run.claimed.runId] };
      await deployment.worker.engine.requestCancel(selection, 'rollback', 'asked for');
      await run.rollBack({ undone: true });
    }

    await held.answer.complete;
    expect(dataOfEvents(held.answer.text)).toEqual(['{"step":1}', '{"step":2}']);
    expect(JSON.parse(await heldWait.answer.complete)).toEqual({ done: true });
    expect((await stopped).code).toBe(0);

    for (const answer of [handedOver.answer, untold]) {
      const rest = await (await continueAnswer(answer)).complete;
      expect(dataOfEvents(answer.text + rest)).toEqual(['{"step":1}', '{"step":2}']);
    }
    const result = await continueAnswer(waited.answer);
    expect(waited.answer.text.trim()).toBe('');
    expect(JSON.parse(await result.complete)).toEqual({ done: true });

    expect(JSON.parse(await (await continueAnswer(undone.answer)).complete)).toEqual({ undone: true });
    expect(JSON.parse(await (await continueAnswer(undoneForOthers)).complete)).toEqual({});
    const restOfUndone = await (await continueAnswer(undoneStream.answer)).complete;
    expect(dataOfEvents(undoneStream.answer.text + restOfUndone)).toEqual(['{"step":1}']);
    expect(dataOfEvents(restOfUndone, 'error')).toEqual([]);

    const restOfThread = await continueAnswer(thread);
    await restOfThread.until('run_done');
    restOfThread.hangUp();
    expect(dataOfEvents(thread.text + restOfThread.text)).toEqual(['{"step":1}', '{"step":2}']);

    const lastId = [...resumable.answer.text.matchAll(/\r\nid: (.*)\r\n\r\n/g)].at(-1)?.[1] as string;
    const rejoined = await ask(
      `${staying.url}/agents/threads/${thread_id}/runs/${resumable.run.claimed.runId}/stream`,
      {
        headers: { 'last-event-id': lastId },
      },
    );
    expect(resumable.answer.text.endsWith('\r\n\r\n')).toBe(true);
    expect(dataOfEvents(resumable.answer.text + rejoined.text)).toEqual(['{"step":1}', '{"step":2}']);

    const rows = await deployment.worker.engine.findRuns(all.map(({ run }) => run.claimed.runId));
    for (const row of rows) expect(row).toMatchObject({ cancelAction: null });
  });
});
