import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { ask, eventsIn, open } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment();
});
afterAll(() => deployment?.close());

const body = { assistant_id: 'echo', input: { messages: [] } };

describe('an event stream', () => {
  it('is framed as clients expect: headers at once, CRLF, metadata first, no ids, no end event', async () => {
    const answer = await open(`${deployment.url}/runs/stream`, { body });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    const run = await deployment.worker.take();
    const { runId } = run.claimed;
    expect(answer.headers.location).toBe(`/runs/${runId}/stream`);
    expect(answer.headers['content-location']).toBe(`/runs/${runId}`);
    await run.emit('values', { n: 1 });
    await run.succeed({ n: 1 });
    expect(await answer.complete).toBe(
      `event: metadata\r\ndata: {"run_id":"${runId}","attempt":1}\r\n\r\nevent: values\r\ndata: {"n":1}\r\n\r\n`,
    );
  });

  it('locates a run on its thread', async () => {
    const { thread_id } = await deployment.client.threads.create();
    const answer = await open(`${deployment.url}/threads/${thread_id}/runs/stream`, { body });
    const run = await deployment.worker.take();
    expect(answer.headers.location).toBe(`/threads/${thread_id}/runs/${run.claimed.runId}/stream`);
    expect(answer.headers['content-location']).toBe(`/threads/${thread_id}/runs/${run.claimed.runId}`);
    await run.succeed({});
    await answer.complete;
  });

  it('carries ids, in the order event, data, id, when it is resumable', async () => {
    const answer = await open(`${deployment.url}/runs/stream`, { body: { ...body, stream_resumable: true } });
    const run = await deployment.worker.take();
    const id = await run.emit('values', { n: 1 });
    await run.succeed({ n: 1 });
    expect(await answer.complete).toContain(`event: values\r\ndata: {"n":1}\r\nid: ${id}\r\n\r\n`);
    expect(id).toMatch(/^\d+-\d+$/);
  });

  it('ends with the error of a failed run, and the status stays 200', async () => {
    const answer = await open(`${deployment.url}/runs/stream`, { body });
    const run = await deployment.worker.take();
    await run.fail({ error: 'ValueError', message: 'no' });
    expect(await answer.complete).toMatch(/event: error\r\ndata: {"error":"ValueError","message":"no"}\r\n\r\n$/);
    expect(answer.status).toBe(200);
  });

  it('names subgraphs and kinds of messages in the event', async () => {
    const answer = await open(`${deployment.url}/runs/stream`, {
      body: { ...body, stream_mode: ['values', 'messages'], stream_subgraphs: true },
    });
    const run = await deployment.worker.take();
    await run.emit('values', {}, 'values|child:1');
    await run.emit('messages', [], 'messages/partial');
    await run.succeed({});
    const text = await answer.complete;
    expect(text).toContain('event: values|child:1\r\n');
    expect(text).toContain('event: messages/partial\r\n');
  });

  it('sends a heartbeat after five quiet seconds', async () => {
    const answer = await open(`${deployment.url}/runs/stream`, { body });
    const run = await deployment.worker.take();
    await answer.until(': heartbeat');
    await run.succeed({});
    expect(await answer.complete).toMatch(/^event: metadata\r\n.*\r\n\r\n: heartbeat\r\n\r\n$/s);
  });

  describe('of a run whose worker was killed before it published the end', () => {
    const failure = { error: 'ValueError', message: 'no' };
    /** Makes those who wait for a run look, as any deletion does. */
    const look = async () => {
      const { thread_id } = await deployment.client.threads.create();
      await deployment.client.threads.delete(thread_id);
    };

    it('sends a gap, the error, and the end, to all who follow the run or its thread, once', async () => {
      const { thread_id } = await deployment.client.threads.create();
      const thread = `${deployment.url}/threads/${thread_id}`;
      const ofThread = await open(`${thread}/stream`);
      const ofRun = await open(`${thread}/runs/stream`, { body: { ...body, stream_resumable: true } });
      const run = await deployment.worker.take();
      const { runId } = run.claimed;
      const joined = await open(`${thread}/runs/${runId}/join`);
      const first = await run.emit('values', { n: 1 });
      await Promise.all([ofRun.until('"n":1'), ofThread.until('"n":1')]);
      await run.finishUnpublished('error', null, failure);
      await look();
      const rest = eventsIn(await ofRun.complete).slice(2);
      expect(rest).toEqual([
        ['gap', { reason: 'lost', after: first }],
        ['error', failure],
      ]);
      await ofThread.until('run_done');
      expect(eventsIn(ofThread.text).slice(2)).toEqual([...rest, ['metadata', { status: 'run_done', run_id: runId }]]);
      expect(JSON.parse(await joined.complete)).toEqual({ __error__: failure });
      // Late events of the worker reach nobody.
      await run.publishEnd('{"status":"error"}');
      const next = await deployment.client.runs.create(thread_id, 'echo', { input: {} });
      await (await deployment.worker.take()).succeed({});
      await ofThread.until(`{"status":"run_done","run_id":"${next.run_id}"}`);
      expect(ofThread.text.split(`{"status":"run_done","run_id":"${runId}"}`)).toHaveLength(2);
      const again = await open(`${thread}/runs/${runId}/stream`, { headers: { 'last-event-id': first } });
      expect(eventsIn(await again.complete)).toEqual(rest);
      ofThread.hangUp();
    });

    it('sends it also to those who come later, and for a run that was rolled back', async () => {
      const { thread_id } = await deployment.client.threads.create();
      const thread = `${deployment.url}/threads/${thread_id}`;
      const create = () => deployment.client.runs.create(thread_id, 'echo', { input: {}, streamResumable: true });
      await create();
      const late = await deployment.worker.take();
      const first = await late.emit('values', { n: 1 });
      await late.finishUnpublished('error', null, failure);
      const answer = await open(`${thread}/runs/${late.claimed.runId}/stream`, { headers: { 'last-event-id': first } });
      expect(eventsIn(await answer.complete)).toEqual([
        ['gap', { reason: 'lost', after: first }],
        ['error', failure],
      ]);

      const ofThread = await open(`${thread}/stream`);
      await create();
      const rolledBack = await deployment.worker.take();
      const { runId } = rolledBack.claimed;
      await ofThread.until(runId);
      await ask(`${thread}/runs/${runId}/cancel?action=rollback`, { method: 'POST' });
      await rolledBack.finishUnpublished('interrupted', {}, null);
      await look();
      await ofThread.until(`{"status":"run_done","run_id":"${runId}"}`);
      expect(eventsIn(ofThread.text).map(([event]) => event)).toEqual(['metadata', 'gap', 'metadata']);
      ofThread.hangUp();
    });
  });

  it.each(['run', 'thread'])('of a %s that is deleted ends without waiting for the next heartbeat', async (what) => {
    const { thread_id } = await deployment.client.threads.create();
    const thread = `${deployment.url}/threads/${thread_id}`;
    const answer = await open(`${thread}/runs/stream`, { body });
    const run = await deployment.worker.take();
    await answer.until('event: metadata');
    const deleted = what === 'run' ? `${thread}/runs/${run.claimed.runId}` : thread;
    expect((await ask(deleted, { method: 'DELETE' })).status).toBe(204);
    expect(await answer.complete).not.toContain('heartbeat');
  });

  it('delivers every event to a client that stops reading for a while', async () => {
    const answer = await open(`${deployment.url}/runs/stream`, { body });
    const run = await deployment.worker.take();
    await answer.until('metadata');
    answer.stopReading();
    const chunk = 'x'.repeat(64 * 1024);
    for (let n = 0; n < 200; n++) await run.emit('custom', { n, chunk });
    await run.succeed({});
    answer.readOn();
    const numbers = [...(await answer.complete).matchAll(/^data: {"n":(\d+),/gm)].map(([, n]) => Number(n));
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, n) => n));
  });
});

describe('waiting for a run', () => {
  it('answers the headers at once and then the final values', async () => {
    const answer = await open(`${deployment.url}/runs/wait`, { body });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    const run = await deployment.worker.take();
    const place = `/threads/${run.claimed.threadId}/runs/${run.claimed.runId}`;
    expect(answer.headers.location).toBe(`${place}/join`);
    expect(answer.headers['content-location']).toBe(place);
    await run.succeed({ text: 'ü', nested: [1, { a: '}' }] });
    expect(await answer.complete).toBe('{"text":"ü","nested":[1,{"a":"}"}]}');
    expect((await ask(deployment.url + answer.headers.location)).text).toBe(answer.text);
  });

  it('answers values too large to be sent with the end', async () => {
    const answer = await open(`${deployment.url}/runs/wait`, { body });
    const run = await deployment.worker.take();
    const values = { text: 'x'.repeat(200_000) };
    await run.finishUnpublished('success', values, null);
    await run.emit('run.end', { status: 'success' });
    expect(JSON.parse(await answer.complete)).toEqual(values);
  });

  it('answers a failure as __error__ with status 200', async () => {
    const answer = await open(`${deployment.url}/runs/wait`, { body });
    const run = await deployment.worker.take();
    await run.fail({ error: 'ValueError', message: 'no' });
    expect(JSON.parse(await answer.complete)).toEqual({ __error__: { error: 'ValueError', message: 'no' } });
  });

  it('sends a line feed every five seconds as a heartbeat', async () => {
    const answer = await open(`${deployment.url}/runs/wait`, { body });
    const run = await deployment.worker.take();
    await answer.until('\n');
    await run.succeed({ done: true });
    expect(await answer.complete).toBe('\n{"done":true}');
  });
});
