import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import type { FakeRun } from './fake-worker.ts';
import { ask, open, type RawAnswer } from './raw-http.ts';

// biome-ignore lint/suspicious/noExplicitAny: events are looked into at many places.
type Json = any;

let deployment: TestDeployment;
beforeAll(async () => {
  // Nothing here is to wait for schemas that are read off sources.
  deployment = await startDeployment({ env: { LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS: '1' } });
});
afterAll(() => deployment?.close());

interface Sent {
  id: string | undefined;
  event: Json;
}

/** Returns the events of an answer, and checks that lines end as clients of AG-UI split them. */
function sentIn(text: string): Sent[] {
  expect(text).not.toContain('\r');
  return text
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const [, id, data] = /^(?:id: (.*)\n)?data: (.*)$/.exec(block) ?? [];
      return { id, event: JSON.parse(data!) };
    });
}
const eventsOf = (text: string) => sentIn(text).map(({ event }) => event);
const typesOf = (text: string) => eventsOf(text).map(({ type }) => type);

const user = (content: string, id: string = randomUUID()) => ({ id, role: 'user', content });
const inputOf = (more: object = {}) => ({
  threadId: randomUUID(),
  runId: randomUUID(),
  protocolVersion: '1.0',
  messages: [user('hi')],
  tools: [],
  context: [],
  state: {},
  forwardedProps: {},
  ...more,
});
const post = (body: object, headers: Record<string, string> = {}, url = deployment.url) =>
  open(`${url}/agui/echo`, { body, headers });

/** Sends an input whose run the fake worker takes. */
async function start(input: object): Promise<{ stream: RawAnswer; run: FakeRun }> {
  const stream = await post(input);
  expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  return { stream, run: await deployment.worker.take() };
}

const emit = (run: FakeRun, channel: string, data: unknown, namespace: string[] = []) =>
  run.emit(`v2.${channel}`, { timestamp: 1, data }, [channel, ...namespace].join('|'));
const say = async (run: FakeRun, ...words: string[]) => {
  const at = ['talk:1'];
  await emit(run, 'messages', { event: 'message-start', id: 'a', role: 'ai' }, at);
  for (const text of words) {
    await emit(run, 'messages', { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text } }, at);
  }
};
const stopSaying = (run: FakeRun) => emit(run, 'messages', { event: 'message-finish' }, ['talk:1']);
const answered = (run: FakeRun, content: string) => {
  const { messages } = run.claimed.kwargs.input as { messages: object[] };
  return { messages: [...messages, { type: 'ai', id: 'a', content }] };
};
const deltas = (text: string) =>
  eventsOf(text)
    .filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
    .map(({ delta }) => delta);

describe('a run', () => {
  it('begins at once, streams what the graph says, and ends with state and messages', async () => {
    const input = inputOf({ threadId: 'my chat', runId: 'first', parentRunId: 'none' });
    const { stream, run } = await start(input);
    await stream.until('RUN_STARTED');
    expect(run.claimed.kwargs).toMatchObject({
      event_protocol: 'v2',
      input: { messages: [{ type: 'human', content: 'hi' }] },
    });
    await say(run, 'Hel', 'lo');
    await stream.until('"lo"');
    await stopSaying(run);
    await run.succeed(answered(run, 'Hello'));
    const events = eventsOf(await stream.complete);
    expect(events[0]).toEqual({
      type: 'RUN_STARTED',
      threadId: 'my chat',
      runId: 'first',
      parentRunId: 'none',
      protocolVersion: '1.0',
    });
    expect(deltas(stream.text)).toEqual(['Hel', 'lo']);
    expect(events.slice(-2)).toMatchObject([
      { type: 'MESSAGES_SNAPSHOT', messages: [input.messages[0], { id: 'a', role: 'assistant', content: 'Hello' }] },
      { type: 'RUN_FINISHED', threadId: 'my chat', runId: 'first', outcome: { type: 'success' } },
    ]);
    const { threadId, runId } = run.claimed;
    expect(stream.headers['content-location']).toBe(`/threads/${threadId}/runs/${runId}`);
    expect(await deployment.client.threads.get(threadId)).toMatchObject({ metadata: { ag_ui_thread_id: 'my chat' } });

    const next = await start(inputOf({ threadId: 'my chat', messages: [...input.messages, user('and', 'm2')] }));
    expect(next.run.claimed).toMatchObject({ threadId, kwargs: { input: { messages: [{ id: 'm2' }] } } });
    await next.run.fail({ error: 'RangeError', message: 'Boo!' });
    expect(eventsOf(await next.stream.complete).at(-1)).toEqual({
      type: 'RUN_ERROR',
      message: 'Boo!',
      code: 'RangeError',
    });
  });

  it('gets the keys alone that the compiled graph takes: its source is not read', async () => {
    const { stream, run } = await start(inputOf({ state: { stranger: 1 } }));
    expect(Object.keys(run.claimed.kwargs.input as object)).toEqual(['messages']);
    await run.succeed({ messages: [] });
    await stream.complete;
  });

  it('is joined by its names, from any process, and every reader gets the same events', async () => {
    const input = inputOf();
    const twice = await Promise.all([post(input), post(input)]);
    const run = await deployment.worker.take();
    await say(run, 'one ', 'two');
    await twice[0]!.until('two');
    const another = await deployment.startAnother();
    const names = new URLSearchParams({ threadId: input.threadId, runId: input.runId, protocolVersion: '1.0' });
    const joined = [await post(input, {}, another.url), await open(`${another.url}/agui/echo?${names}`)];
    await stopSaying(run);
    await run.succeed(answered(run, 'one two'));
    const whole = sentIn(await twice[0]!.complete);
    for (const reader of [twice[1]!, ...joined]) expect(sentIn(await reader.complete)).toEqual(whole);
    const ids = whole.map(({ id }) => id);
    expect(new Set(ids).size).toBe(whole.length);

    for (const at of [0, 2, whole.length - 2]) {
      const rest = await post(input, { 'last-event-id': ids[at]! }, another.url);
      expect(sentIn(await rest.complete)).toEqual(whole.slice(at + 1));
    }
    expect(await deployment.client.runs.list(input.threadId)).toHaveLength(1);
    await another.stop();
  });

  it('is never left out whole: a place beyond its end brings the end, and a new run has no place', async () => {
    const input = inputOf();
    const beyond = { 'last-event-id': '999999999999999-0.0' };
    const stream = await post(input, beyond);
    const run = await deployment.worker.take();
    await run.succeed(answered(run, 'hello'));
    expect(typesOf(await stream.complete)).toEqual(expect.arrayContaining(['RUN_STARTED', 'RUN_FINISHED']));
    expect(typesOf(await (await post(input, beyond)).complete)).toEqual(['RUN_FINISHED']);
    const last = sentIn(stream.text).at(-1)!.id!;
    expect(await (await post(input, { 'last-event-id': last })).complete).toBe('');
  });

  it('goes on when its client leaves, and is found with its outcome when its events are gone', async () => {
    const input = inputOf();
    const { stream, run } = await start(input);
    await stream.until('RUN_STARTED');
    stream.hangUp();
    const large = { ...answered(run, 'done'), large: 'x'.repeat(100_000) };
    await run.finishUnpublished('success', large, null);
    await run.publishEnd('{"status":"success"}');
    expect(typesOf((await ask(`${deployment.url}/agui/echo`, { body: input })).text)).toEqual([
      ...['RUN_STARTED', 'STATE_SNAPSHOT', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED'],
    ]);
    await deployment.forgetEvents(input.threadId);
    const late = eventsOf((await ask(`${deployment.url}/agui/echo`, { body: input })).text);
    expect(late.map(({ type }) => type)).toEqual([
      ...['RUN_STARTED', 'STATE_SNAPSHOT', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED'],
    ]);
    expect(late[1].snapshot.large).toHaveLength(100_000);
  });

  it('says that it was cancelled', async () => {
    const input = inputOf();
    const { stream, run } = await start(input);
    const { threadId, runId } = run.claimed;
    await deployment.client.runs.cancel(threadId, runId);
    await deployment.worker.order(run);
    await run.interrupt({ n: 1 });
    expect(eventsOf(await stream.complete).at(-1)).toMatchObject({ outcome: { type: 'cancelled' } });
    const { protocolVersion: _, ...older } = input;
    const { text } = await ask(`${deployment.url}/agui/echo`, { body: older });
    expect(eventsOf(text).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'cancelled' });
  });

  it('shows events of LangGraph to clients that ask for them, beside the others', async () => {
    const input = inputOf({ forwardedProps: { emitRawEvents: true } });
    const { stream, run } = await start(input);
    await emit(run, 'custom', { payload: { progress: 1 } });
    await run.succeed({});
    const [, custom, raw] = eventsOf(await stream.complete);
    expect(custom).toEqual({ type: 'CUSTOM', name: 'custom', value: { progress: 1 } });
    expect(raw).toMatchObject({ type: 'RAW', source: 'langgraph', event: { method: 'custom' } });
    const { threadId, runId } = input;
    const names = new URLSearchParams({ threadId, runId, emitRawEvents: 'true', protocolVersion: '1.0' });
    expect((await ask(`${deployment.url}/agui/echo?${names}`)).text).toBe(stream.text);
  });
});

describe('an interrupt', () => {
  const question = { id: 'i1', value: { question: 'Really?' } };

  /** Runs a graph that ends with a question. */
  async function askBack(input = inputOf()) {
    const { stream, run } = await start(input);
    await run.ask({ messages: [], mood: 'unsure' }, [question]);
    return { input, text: await stream.complete };
  }

  it('ends the run, and its answer goes on with it once, in the new form and in the older one', async () => {
    const { input, text } = await askBack();
    expect(typesOf(text).slice(1)).toEqual(['CUSTOM', 'STATE_SNAPSHOT', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
    expect(eventsOf(text).at(-1)).toMatchObject({
      outcome: { type: 'interrupt', interrupts: [{ id: 'i1', message: 'Really?' }] },
    });
    const resume = [{ interruptId: 'i1', status: 'resolved', payload: 'yes' }];
    const answer = { ...input, runId: randomUUID(), resume };
    const resumed = await start(answer);
    expect(resumed.run.claimed.kwargs).toMatchObject({ command: { resume: { i1: 'yes' } }, input: null });
    await resumed.run.succeed({ messages: [], mood: 'sure' });
    await resumed.stream.complete;

    const again = await ask(`${deployment.url}/agui/echo`, { body: { ...answer, messages: [], runId: 'again' } });
    expect(eventsOf(again.text)).toEqual([
      { type: 'RUN_STARTED', threadId: input.threadId, runId: 'again', protocolVersion: '1.0' },
      { type: 'STATE_SNAPSHOT', snapshot: { mood: 'sure' } },
      { type: 'MESSAGES_SNAPSHOT', messages: [] },
      { type: 'RUN_FINISHED', threadId: input.threadId, runId: 'again', outcome: { type: 'success' } },
    ]);

    const { input: other } = await askBack();
    const older = await start({ ...other, runId: randomUUID(), forwardedProps: { command: { resume: '{"ok":1}' } } });
    expect(older.run.claimed.kwargs).toMatchObject({ command: { resume: { ok: 1 } } });
    await older.run.succeed({});
  });

  it('is answered by a request with the names of the run that asked, again and again, and each run is joined by them', async () => {
    const { input } = await askBack();
    const runIds = [];
    for (const payload of ['yes', 'yes', 'no']) {
      const answer = { ...input, resume: [{ interruptId: 'i1', status: 'resolved', payload }] };
      const twice = await Promise.all([post(answer), post(answer)]);
      const run = await deployment.worker.take();
      expect(run.claimed.kwargs).toMatchObject({ command: { resume: { i1: payload } } });
      runIds.push(run.claimed.runId);
      const late = await post(answer);
      // The same question again has the same id: LangGraph makes it of the place that asks.
      await (payload === 'no' ? run.succeed({ mood: 'sure' }) : run.ask({ messages: [] }, [question]));
      const whole = await late.complete;
      for (const reader of twice) expect(await reader.complete).toBe(whole);
      // Whoever goes on with a cut stream of the answer does not answer the next question with it.
      const [{ id }] = sentIn(whole) as [Sent];
      expect(await (await post(answer, { 'last-event-id': id! })).complete).toBe(
        whole.slice(whole.indexOf('\n\n') + 2),
      );
      const { threadId, runId } = input;
      const names = new URLSearchParams({ threadId, runId, protocolVersion: '1.0' });
      expect((await ask(`${deployment.url}/agui/echo?${names}`)).text).toBe(whole);
    }
    expect(new Set(runIds).size).toBe(3);
    expect(await deployment.client.runs.list(input.threadId)).toHaveLength(4);
  });

  it('of two answers at once counts one', async () => {
    const { input } = await askBack();
    const resume = [{ interruptId: 'i1', status: 'resolved', payload: 'yes' }];
    const answers = await Promise.all(['one', 'two'].map((runId) => post({ ...input, runId, messages: [], resume })));
    // The second one is refused, or has come when the first was taken already.
    expect(answers.map(({ status }) => status)).toSatisfy((all: number[]) =>
      all.every((each) => [200, 409].includes(each)),
    );
    for (const answer of answers) answer.hangUp();
    expect(await deployment.client.runs.list(input.threadId)).toHaveLength(2);
    await (await deployment.worker.take()).succeed({});
  });

  it('that is not answered keeps the thread, and says so', async () => {
    const { input } = await askBack();
    const resume = [{ interruptId: 'another', status: 'resolved', payload: 'yes' }];
    for (const more of [{}, { resume }]) {
      const { text } = await ask(`${deployment.url}/agui/echo`, { body: { ...input, runId: randomUUID(), ...more } });
      expect(eventsOf(text).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'interrupts_open' });
    }
    expect(await deployment.client.threads.get(input.threadId)).toMatchObject({ status: 'interrupted' });
  });
});

describe('a wrong request', () => {
  it.each<[string, object, number]>([
    ['without a thread', { threadId: undefined }, 422],
    ['with an empty id', { runId: '' }, 422],
    ['with messages that are no list', { messages: 'hi' }, 422],
    ['with a message without an id', { messages: [{ role: 'user', content: 'hi' }] }, 422],
    ['with a content of another kind', { messages: [{ id: 'm', role: 'user', content: { a: 1 } }] }, 422],
    ['with an answer of an unknown status', { resume: [{ interruptId: 'i', status: 'maybe' }] }, 422],
    ['with a wrong configuration', { forwardedProps: { config: { recursion_limit: 'x' } } }, 422],
  ])('%s is refused before the stream begins', async (_, more, status) => {
    const answer = await ask(`${deployment.url}/agui/echo`, { body: inputOf(more) });
    expect([answer.status, answer.json]).toMatchObject([status, { detail: expect.any(String) }]);
  });

  it('to an assistant or a run that does not exist is 404, and the id of no event is refused', async () => {
    expect((await ask(`${deployment.url}/agui/${randomUUID()}`, { body: inputOf() })).status).toBe(404);
    expect((await ask(`${deployment.url}/agui/echo?threadId=t&runId=never`)).status).toBe(404);
    expect((await ask(`${deployment.url}/agui/echo?threadId=t`)).status).toBe(422);
    expect((await post(inputOf(), { 'last-event-id': 'zap' })).status).toBe(422);
  });

  it('whose body is called something else than JSON starts no run', async () => {
    const answer = await fetch(`${deployment.url}/agui/echo`, { method: 'POST', body: JSON.stringify(inputOf()) });
    expect([answer.status, await answer.json()]).toMatchObject([415, { detail: expect.stringContaining('JSON') }]);
  });

  it('of a newer client passes with what is not known here', async () => {
    const newer = {
      protocolVersion: '1.7',
      messages: [
        { ...user('hi'), mood: 1 },
        { id: 'x', role: 'future' },
      ],
      hat: 1,
    };
    const { stream, run } = await start(inputOf(newer));
    expect(run.claimed.kwargs.input).toMatchObject({ messages: [{ content: 'hi' }] });
    await run.succeed({});
    expect(typesOf(await stream.complete).at(-1)).toBe('RUN_FINISHED');
  });
});

it('a client that reads nothing costs little, and gets everything when it reads on', async () => {
  const { stream, run } = await start(inputOf());
  await stream.until('RUN_STARTED');
  stream.stopReading();
  const payload = 'x'.repeat(50_000);
  for (let n = 0; n < 200; n += 1) await emit(run, 'custom', { payload: { n, payload } });
  await run.succeed({});
  stream.readOn();
  const seen = eventsOf(await stream.complete).filter(({ type }) => type === 'CUSTOM');
  expect(seen.map(({ value }) => value.n)).toEqual(Array.from({ length: 200 }, (_, n) => n));
});
