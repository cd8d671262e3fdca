import { randomUUID } from 'node:crypto';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import type { FakeRun } from './fake-worker.ts';
import { ask, open, type RawAnswer } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment();
});
afterAll(() => deployment?.close());

interface ProtocolEvent {
  event_id: string;
  seq: number;
  method: string;
  params: { namespace: string[]; data: unknown };
}

const ALL = ['values', 'updates', 'messages', 'tools', 'lifecycle', 'input', 'checkpoints', 'tasks', 'custom'];

const streamOf = (threadId: string, body: object = { channels: ALL }, url = deployment.url) =>
  open(`${url}/threads/${threadId}/stream/events`, { body });

function eventsSent(answer: RawAnswer): ProtocolEvent[] {
  return [...answer.text.matchAll(/event: (.*)\r\ndata: (.*)\r\nid: (.*)\r\n\r\n/g)].map(([, method, data, id]) => {
    const event = JSON.parse(data!) as ProtocolEvent;
    expect(event).toMatchObject({ type: 'event', method, event_id: id });
    return event;
  });
}

const waitForEvents = (answer: RawAnswer, count: number) =>
  waitFor(() => (eventsSent(answer).length >= count ? eventsSent(answer) : undefined), { what: `${count} events` });

const shown = (events: ProtocolEvent[]) => events.map(({ method, params }) => [method, params.data]);

let commandId = 0;
async function command(threadId: string, method: string, params?: object, url = deployment.url) {
  const id = ++commandId;
  const { status, json } = await ask(`${url}/threads/${threadId}/commands`, { body: { id, method, params } });
  expect({ status, json }).toMatchObject({ status: 200, json: { id, meta: { thread_id: threadId } } });
  return json as { type: string; result: Record<string, unknown>; error?: string; message?: string };
}

/** Starts a run by a command and takes it as a worker does. */
async function startRun(threadId: string, params: object = {}): Promise<FakeRun> {
  const { result } = await command(threadId, 'run.start', { assistant_id: 'echo', input: {}, ...params });
  const run = await deployment.worker.take();
  expect(run.claimed.runId).toBe(result.run_id);
  return run;
}

const emit = (run: FakeRun, channel: string, data: unknown, namespace: string[] = []) =>
  run.emit(`v2.${channel}`, { timestamp: 1, data }, [channel, ...namespace].join('|'));

const running = ['lifecycle', { event: 'running', graph_name: 'echo' }];
const completed = ['lifecycle', { event: 'completed', graph_name: 'echo' }];

describe('the event protocol', () => {
  it('starts a run on a thread that does not exist, and every subscriber gets its events, however late', async () => {
    const threadId = randomUUID();
    const early = await streamOf(threadId);
    expect(early.headers).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8' });
    const run = await startRun(threadId);
    expect(run.claimed.kwargs).toMatchObject({ event_protocol: 'v2', resumable: true, subgraphs: true });
    await emit(run, 'values', { n: 1 });
    await emit(run, 'messages', { event: 'message-start' }, ['talk:1']);
    await run.succeed({});
    const events = await waitForEvents(early, 4);
    expect(shown(events)).toEqual([running, ['values', { n: 1 }], ['messages', { event: 'message-start' }], completed]);
    const seqs = events.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    const another = await deployment.startAnother();
    const late = await streamOf(threadId, { channels: ALL }, another.url);
    expect(await waitForEvents(late, 4)).toEqual(events);
    const since = await streamOf(threadId, { channels: ALL, since: seqs[1] });
    const filtered = await streamOf(threadId, { channels: ['messages', 'lifecycle'], namespaces: [['talk']] });
    const second = await startRun(threadId);
    await second.succeed({});
    expect((await waitForEvents(since, 4)).slice(0, 2)).toEqual(events.slice(2));
    expect(shown(await waitForEvents(early, 6)).slice(4)).toEqual([running, completed]);
    expect(await waitForEvents(filtered, 1)).toEqual([events[2]]);
    for (const answer of [early, late, since, filtered]) answer.hangUp();
    await another.stop();
  });

  it('numbers events beyond all earlier ones of the thread after Redis was emptied, and says what is gone', async () => {
    const threadId = randomUUID();
    const first = await startRun(threadId);
    await emit(first, 'values', 'old');
    await first.succeed({});
    const stream = await streamOf(threadId, { channels: ['values'] });
    const [old] = await waitForEvents(stream, 1);
    stream.hangUp();
    await deployment.forgetEvents(threadId);
    const next = await startRun(threadId);
    await emit(next, 'values', 'new');
    const again = await streamOf(threadId, { channels: ['values'], since: old!.seq });
    const [gap, fresh] = await waitForEvents(again, 2);
    expect(gap).toMatchObject({ method: 'gap', params: { data: { reason: 'expired', after: old!.seq } } });
    expect(gap!.event_id).not.toBe(old!.event_id);
    expect(fresh!.params.data).toBe('new');
    expect(fresh!.seq).toBeGreaterThan(old!.seq);
    await next.succeed({});
    again.hangUp();
  });

  it('a client that goes on in the middle of a run gets the events that it would have got had it stayed', async () => {
    const threadId = randomUUID();
    const stayed = await streamOf(threadId);
    const run = await startRun(threadId);
    const asks = { interrupt_id: 'i', payload: '?' };
    await run.emit('v2.input', { timestamp: 1, data: asks }, 'input.requested');
    await emit(run, 'values', { n: 1 });
    await run.emit('metadata', { run_id: run.claimed.runId, attempt: 2 });
    await run.emit('v2.input', { timestamp: 2, data: asks }, 'input.requested');
    await emit(run, 'values', { n: 2 });
    await run.fail({ error: 'RangeError', message: 'Boo!' });
    const events = await waitForEvents(stayed, 5);
    expect(shown(events).map(([method]) => method)).toEqual([
      ...['lifecycle', 'input.requested', 'values', 'values', 'lifecycle'],
    ]);
    for (const [index, { seq }] of events.slice(0, -1).entries()) {
      const late = await streamOf(threadId, { channels: ALL, since: seq });
      expect(await waitForEvents(late, 4 - index)).toEqual(events.slice(index + 1));
      late.hangUp();
    }
    stayed.hangUp();
  });

  it('a repeated command with an idempotency key starts one run', async () => {
    const threadId = randomUUID();
    const headers = { 'idempotency-key': randomUUID() };
    const body = { id: 7, method: 'run.start', params: { assistant_id: 'echo', input: {} } };
    const send = (sent: object = body) =>
      ask(`${deployment.url}/threads/${threadId}/commands`, { body: sent, headers });
    const first = await send();
    const run = await deployment.worker.take();
    expect(first.json).toMatchObject({ type: 'success', id: 7, result: { run_id: run.claimed.runId } });
    const again = await send();
    expect(again.json).toMatchObject({ type: 'success', id: 7, result: { run_id: run.claimed.runId } });
    expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true' });
    expect(await send({ ...body, id: 8 })).toMatchObject({
      status: 400,
      json: { type: 'error', error: 'invalid_argument', message: expect.stringContaining('idempotency-key') },
    });
    expect(await deployment.client.runs.list(threadId)).toHaveLength(1);
    await run.succeed({});
  });

  it('streams a stateless run, whose thread is there for nothing else and is not kept', async () => {
    const threadId = randomUUID();
    const stream = await streamOf(threadId);
    const params = { assistant_id: 'echo', input: {}, on_completion: 'delete' };
    const run = await startRun(threadId, params);
    expect(run.claimed).toMatchObject({ threadId, keepsThread: false, kwargs: { temporary: true } });
    expect(await command(threadId, 'run.start', params)).toMatchObject({ type: 'error', error: 'invalid_argument' });
    await emit(run, 'values', { n: 1 });
    await run.succeed({});
    expect(shown(await waitForEvents(stream, 3))).toEqual([
      ['lifecycle', { event: 'running' }],
      ['values', { n: 1 }],
      ['lifecycle', { event: 'completed' }],
    ]);
    expect((await ask(`${deployment.url}/threads/${threadId}`)).status).toBe(404);
    await (await startRun(threadId, params)).succeed({});
    expect(
      shown(await waitForEvents(stream, 5))
        .slice(3)
        .map(([method]) => method),
    ).toEqual(['lifecycle', 'lifecycle']);
    stream.hangUp();
    const { thread_id: kept } = await deployment.client.threads.create({ graphId: 'echo' });
    expect(await command(kept, 'run.start', params)).toMatchObject({ type: 'error', error: 'invalid_argument' });
  });

  it('says how a run failed, and shows runs that others start without the protocol', async () => {
    const threadId = randomUUID();
    const stream = await streamOf(threadId);
    const failing = await startRun(threadId);
    await failing.fail({ error: 'RangeError', message: 'Boo!' });
    const error = '{"error":"RangeError","message":"Boo!"}';
    expect(shown(await waitForEvents(stream, 2))[1]).toEqual([
      'lifecycle',
      { event: 'failed', graph_name: 'echo', error },
    ]);
    await deployment.client.runs.create(threadId, 'echo', { input: {} });
    const other = await deployment.worker.take();
    await other.emit('values', { n: 1 });
    await other.succeed({});
    expect(shown(await waitForEvents(stream, 5)).slice(2)).toEqual([running, ['values', { n: 1 }], completed]);
    stream.hangUp();
  });

  it('a run that is created over REST with the marker of the protocol emits its events, unless its client streams modes', async () => {
    const { thread_id: threadId } = await deployment.client.threads.create({ graphId: 'echo' });
    const body = { assistant_id: 'echo', input: {}, config: { configurable: { __event_streaming_v2: true } } };
    const create = (path: string, more: object = {}) =>
      open(`${deployment.url}/threads/${threadId}/runs${path}`, { body: { ...body, ...more } });
    for (const [path, more, asked] of [
      ['', {}, { event_protocol: 'v2', resumable: true }],
      ['/wait', {}, { event_protocol: 'v2', resumable: true }],
      ['/stream', {}, { resumable: false }],
      ['', { config: { configurable: { __event_streaming_v2: 'true' } } }, { resumable: false }],
    ] as const) {
      const answer = await create(path, more);
      const run = await deployment.worker.take();
      expect(run.claimed.kwargs, path).toMatchObject(asked);
      expect(run.claimed.kwargs.event_protocol, path).toBe(
        'event_protocol' in asked ? asked.event_protocol : undefined,
      );
      await run.succeed({});
      await answer.complete;
    }
  });

  it('keeps its events from streams of the first version', async () => {
    const { thread_id: threadId } = await deployment.client.threads.create({ graphId: 'echo' });
    const whole = await open(`${deployment.url}/threads/${threadId}/stream`);
    const run = await startRun(threadId);
    const ofRun = await open(`${deployment.url}/threads/${threadId}/runs/${run.claimed.runId}/stream`);
    await emit(run, 'values', { secret: true });
    await run.succeed({});
    await whole.until('run_done');
    expect(await ofRun.complete).not.toContain('secret');
    expect(whole.text).not.toContain('secret');
    whole.hangUp();
  });

  it('takes input as the answer while the thread waits, and answers by interrupt, from any process', async () => {
    const threadId = randomUUID();
    const asked = async (run: FakeRun, ids: string[]) => {
      const { fence, runId } = run.claimed;
      await deployment.worker.engine.finishRun({
        fence,
        runId,
        status: 'success',
        threadStatus: 'interrupted',
        values: Buffer.from('{}'),
        interrupts: Buffer.from(JSON.stringify({ task: ids.map((id) => ({ id, value: '?' })) })),
        checkpointId: null,
        error: null,
      });
      await run.publishEnd('{"waits_for_input":true,"status":"success"}');
    };
    expect(await command(threadId, 'input.respond', { interrupt_id: 'i', response: 1 })).toMatchObject({
      error: 'no_such_run',
    });
    await asked(await startRun(threadId), ['i', 'j']);
    const wrong = await command(threadId, 'input.respond', { interrupt_id: 'zap', response: 1 });
    expect(wrong).toMatchObject({ type: 'error', error: 'no_such_interrupt', message: expect.stringContaining('zap') });
    const responses = [
      { namespace: [], interrupt_id: 'i', response: 'yes' },
      { namespace: [], interrupt_id: 'j', response: null },
    ];
    await command(threadId, 'input.respond', { responses, update: { n: 1 }, goto: 'end', metadata: { by: 'ada' } });
    const resumed = await deployment.worker.take();
    expect(resumed.claimed).toMatchObject({
      metadata: { by: 'ada' },
      kwargs: { command: { resume: { i: 'yes', j: null }, update: { n: 1 }, goto: 'end' }, input: null },
    });
    await asked(resumed, ['k']);
    const answered = await startRun(threadId, { input: 'the answer' });
    expect(answered.claimed.kwargs).toMatchObject({ input: null, command: { resume: 'the answer' } });
    await asked(answered, ['l']);
    const config = { configurable: { checkpoint_id: randomUUID() } };
    const forked = await startRun(threadId, { input: 'new', config, multitaskStrategy: 'zap' });
    expect(forked.claimed.kwargs).toMatchObject({ input: 'new', command: null, config });
    await forked.succeed({});
  });

  it('takes one of several answers that come at once, and refuses the others', async () => {
    const threadId = randomUUID();
    await (await startRun(threadId)).ask({}, [{ id: 'i', value: '?' }]);
    const answers = ['a', 'b', 'c', 'd', 'e'].map((response) =>
      command(threadId, 'input.respond', { interrupt_id: 'i', response }),
    );
    const outcomes = (await Promise.all(answers)).map((answer) => (answer as { error?: string }).error ?? 'taken');
    expect(outcomes.filter((outcome) => outcome === 'taken')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'no_such_interrupt')).toHaveLength(4);
    await (await deployment.worker.take()).succeed({});
    expect(await deployment.client.runs.list(threadId)).toHaveLength(2);
  });

  it.each([
    ['was stopped', (run: FakeRun) => run.interrupt({})],
    ['failed', (run: FakeRun) => run.fail({ error: 'Error', message: 'no' })],
  ] as const)('takes an answer again after the run that had the first one %s', async (_, end) => {
    const threadId = randomUUID();
    await (await startRun(threadId)).ask({}, [{ id: 'i', value: '?' }]);
    const answering = await startRun(threadId, { input: 'the answer' });
    const early = await command(threadId, 'input.respond', { interrupt_id: 'i', response: 'early' });
    expect(early).toMatchObject({ error: 'no_such_interrupt' });
    await end(answering);
    const thread = await deployment.client.threads.get(threadId);
    expect(thread.interrupts).toEqual({ task: [{ id: 'i', value: '?' }] });
    const second = await startRun(threadId, { input: 'again' });
    expect(second.claimed.kwargs).toMatchObject({ input: null, command: { resume: 'again' } });
    await end(second);
    await command(threadId, 'input.respond', { interrupt_id: 'i', response: 'yes' });
    const third = await deployment.worker.take();
    expect(third.claimed.kwargs).toMatchObject({ command: { resume: { i: 'yes' } } });
    await third.succeed({});
    expect((await deployment.client.threads.get(threadId)).interrupts).toEqual({});
  });

  it('shows what a run consists of, while it runs and later', async () => {
    const threadId = randomUUID();
    expect(await command(threadId, 'agent.getTree')).toMatchObject({ error: 'no_such_run' });
    const run = await startRun(threadId);
    await emit(run, 'lifecycle', { event: 'started', graph_name: 'child' }, ['child:1']);
    await emit(run, 'lifecycle', { event: 'started', graph_name: 'inner' }, ['child:1', 'inner:2']);
    await emit(run, 'lifecycle', { event: 'completed', graph_name: 'inner' }, ['child:1', 'inner:2']);
    const inner = { namespace: ['child:1', 'inner:2'], status: 'completed', graph_name: 'inner' };
    const child = { namespace: ['child:1'], status: 'started', graph_name: 'child', children: [inner] };
    const tree = { namespace: [], status: 'running', graph_name: 'echo', children: [child] };
    expect(await command(threadId, 'agent.getTree')).toMatchObject({ type: 'success', result: { tree } });
    await run.succeed({});
    expect(await command(threadId, 'agent.getTree', { run_id: run.claimed.runId })).toMatchObject({
      result: { tree: { ...tree, status: 'completed' } },
    });
    expect(await command(threadId, 'agent.getTree', { run_id: randomUUID() })).toMatchObject({ error: 'no_such_run' });
  });

  it('reads state and checkpoints, and forks from one', async () => {
    const { thread_id: threadId } = await deployment.client.threads.create({ graphId: 'echo' });
    expect(await command(threadId, 'state.fork', { checkpoint_id: 'c' })).toMatchObject({ error: 'no_such_run' });
    await (await startRun(threadId)).succeed({});
    await deployment.client.threads.updateState(threadId, { values: { messages: [] }, asNode: 'echo' });
    const { result } = await command(threadId, 'state.get', { namespace: [] });
    expect(result).toEqual({ values: { messages: [] }, checkpoint: { id: expect.any(String), ns: '' } });
    expect((await command(threadId, 'state.get', { keys: [] })).result.values).toEqual({});
    const lost = await command(threadId, 'state.get', { namespace: ['zap:1'] });
    expect(lost).toMatchObject({ error: 'no_such_namespace' });
    expect(await command(randomUUID(), 'state.get')).toMatchObject({ error: 'no_such_run' });
    const { checkpoints } = (await command(threadId, 'state.listCheckpoints', { limit: 5 })).result as {
      checkpoints: { id: string }[];
    };
    const { id } = result.checkpoint as { id: string };
    expect(checkpoints[0]).toMatchObject({ id, timestamp: expect.any(String), step: expect.any(Number) });
    const before = await command(threadId, 'state.listCheckpoints', { before: id });
    expect(before.result.checkpoints).toEqual(checkpoints.slice(1));
    const forked = await command(threadId, 'state.fork', { checkpoint_id: id, input: { n: 1 } });
    const run = await deployment.worker.take();
    expect(forked.result).toEqual({ run_id: run.claimed.runId, thread_id: threadId });
    expect(run.claimed.kwargs).toMatchObject({ input: { n: 1 }, config: { configurable: { checkpoint_id: id } } });
    await run.succeed({});
    const nowhere = await command(threadId, 'state.fork', { checkpoint_id: randomUUID() });
    expect(nowhere).toMatchObject({ error: 'no_such_checkpoint' });
  });

  it('refuses what is wrong by error responses, in words', async () => {
    const threadId = randomUUID();
    const faults: [method: string, params: object | undefined, error: string, message: string][] = [
      ['zap', undefined, 'unknown_command', 'zap'],
      ['run.start', {}, 'invalid_argument', 'assistant_id'],
      ['run.start', { assistant_id: 'echo', config: 'zap' }, 'invalid_argument', 'config'],
      ['run.start', { assistant_id: 'nobody' }, 'invalid_argument', 'nobody'],
      ['input.respond', {}, 'invalid_argument', 'interrupt_id'],
      ['input.respond', { responses: [] }, 'invalid_argument', 'responses'],
      ['state.listCheckpoints', { limit: 0 }, 'invalid_argument', 'limit'],
      ['input.inject', { namespace: [], message: {} }, 'not_supported', 'start a run'],
      ['subscription.subscribe', { channels: ['values'] }, 'not_supported', 'websockets'],
      ['subscription.unsubscribe', { subscription_id: 's' }, 'no_such_subscription', 's'],
    ];
    for (const [method, params, error, message] of faults) {
      expect(await command(threadId, method, params), method).toMatchObject({
        type: 'error',
        error,
        message: expect.stringContaining(message),
      });
    }
    const wrong: [path: string, body: unknown, detail: string][] = [
      ['commands', { id: 1 }, 'method'],
      ['commands', { id: -1, method: 'run.start' }, 'id'],
      ['commands', { id: 1, method: 'run.start', params: [] }, 'params'],
      ['stream/events', {}, 'channels'],
      ['stream/events', { channels: [] }, 'channels'],
      ['stream/events', { channels: ['zap'] }, 'channels'],
      ['stream/events', { channels: ['values'], since: -1 }, 'since'],
      ['stream/events', { channels: ['values'], zap: 1 }, 'zap'],
    ];
    for (const [path, body, detail] of wrong) {
      const refused = await ask(`${deployment.url}/threads/${threadId}/${path}`, { body });
      expect(refused, JSON.stringify(body)).toMatchObject({
        status: 400,
        json: { type: 'error', id: null, error: 'invalid_argument', message: expect.stringContaining(detail) },
      });
    }
    const noUuid = await ask(`${deployment.url}/threads/zap/commands`, { body: { id: 1, method: 'run.start' } });
    expect(noUuid).toMatchObject({ status: 400, json: { error: 'invalid_argument' } });
  });

  it.each([
    ['commands', { id: 1, method: 'state.get' }],
    ['stream/events', { channels: ['values'] }],
  ])(
    'refuses a body of %s that is called something else than JSON, and takes one that nothing is called',
    async (path, body) => {
      const url = `${deployment.url}/threads/${randomUUID()}/${path}`;
      const leaving = new AbortController();
      const send = (headers: Record<string, string>) =>
        fetch(url, { method: 'POST', body: new Blob([JSON.stringify(body)]), headers, signal: leaving.signal });
      for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
        const refused = await send({ 'content-type': type });
        expect([refused.status, await refused.json()]).toMatchObject([
          415,
          { type: 'error', error: 'invalid_argument' },
        ]);
      }
      expect((await send({})).status).toBe(200);
      leaving.abort();
    },
  );

  it('waits for a client that stops reading, which gets everything in the end', async () => {
    const threadId = randomUUID();
    const slow = await streamOf(threadId, { channels: ['custom', 'lifecycle'] });
    slow.stopReading();
    const run = await startRun(threadId);
    const chunk = 'x'.repeat(64 * 1024);
    const numbers = Array.from({ length: 200 }, (_, n) => n);
    for (const n of numbers) await emit(run, 'custom', { payload: { n, chunk } });
    await run.succeed({});
    slow.readOn();
    await slow.until('"event":"completed"');
    expect([...slow.text.matchAll(/"payload":{"n":(\d+),/g)].map(([, n]) => Number(n))).toEqual(numbers);
    await slow.until(': heartbeat\r\n\r\n');
    slow.hangUp();
  });
});
