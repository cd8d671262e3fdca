import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A2aClient, answered, brief, dataIn, type Json, says, V1 } from './a2a-client.ts';
import type { TestDeployment } from './deployment.ts';
import { ask, open } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
let elsewhere: string;
let a2a: A2aClient;
beforeAll(async () => {
  deployment = await shareDeployment();
  elsewhere = `${(await deployment.startAnother()).url}/a2a/echo`;
  a2a = new A2aClient(deployment);
});
afterAll(() => deployment?.close());

function inContext(text: string, more: object = {}) {
  const contextId = randomUUID();
  return { ...says(text, { contextId, ...more }), contextId };
}
const sendElsewhere = async (body: object, headers: Record<string, string> = {}) =>
  (await ask(`${elsewhere}/message:send`, { body, headers: { ...V1, ...headers } })).json as Json;
const tasksOf = async (contextId: string) => (await a2a.rpc('ListTasks', { contextId })).result.tasks;
const textsOf = ({ history }: Json) => history.map(({ parts }: Json) => parts[0].text);

describe('a message that is sent again', () => {
  it('in its context is answered by its task, at any process, while it works and when it has ended', async () => {
    const { contextId, ...message } = inContext('once');
    const both = [a2a.rpc('SendMessage', message), sendElsewhere(message)];
    const run = await deployment.worker.take();
    await run.succeed(answered(run.claimed, 'echo: once'));
    const [first, second] = await Promise.all(both);
    const done = { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: 'echo: once' }] }] };
    expect(first.result.task).toMatchObject({ id: run.claimed.runId, ...done });
    expect(second.task).toEqual(first.result.task);
    expect((await a2a.rpc('SendMessage', message)).result.task).toEqual(first.result.task);
    expect(await tasksOf(contextId)).toHaveLength(1);
  });

  it('is followed from its beginning', async () => {
    const { contextId: _, ...message } = inContext('tell');
    const first = await open(`${a2a.base}/message:stream`, { body: message, headers: V1 });
    const run = await deployment.worker.take();
    await run.emit('messages-tuple', [{ type: 'AIMessageChunk', id: 'a', content: 'Once' }, {}], 'messages');
    await first.until('Once');
    const again = await open(`${elsewhere}/message:stream`, { body: message, headers: V1 });
    await again.until('Once');
    await run.succeed(answered(run.claimed, 'Once upon a time'));
    const [events, repeated] = [dataIn(await first.complete), dataIn(await again.complete)];
    expect(repeated.slice(1).map(brief)).toEqual(events.slice(1).map(brief));
    expect(repeated[0].task.id).toBe(run.claimed.runId);
  });

  it.each([
    ['to its task', ({ id: taskId }: Json) => says('yes', { taskId })],
    ['to its context', ({ contextId }: Json) => says('', { contextId, parts: [{ data: { resume: 'yes' } }] })],
  ])('as an answer %s is answered by the task, also when that has ended', async (_, answerTo) => {
    const asked = await a2a.askBack();
    const answer = answerTo(asked);
    const first = a2a.rpc('SendMessage', answer);
    const run = await deployment.worker.take();
    const again = sendElsewhere({ ...answer, configuration: { returnImmediately: true } });
    expect((await again).task).toMatchObject({ id: asked.id, status: { state: 'TASK_STATE_WORKING' } });
    await run.succeed({ messages: [{ type: 'ai', content: 'done' }] });
    const { task } = (await first).result;
    expect(task).toMatchObject({ id: asked.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect((await sendElsewhere(answer)).task).toEqual(task);
    const other = { ...answer, message: { ...answer.message, messageId: randomUUID() } };
    expect((await sendElsewhere(other)).error.details[0].reason).toBe('UNSUPPORTED_OPERATION');
  });

  it('without a context or a task is another one', async () => {
    const message = says('twice', { messageId: 'same' });
    const ids: string[] = [];
    for (const _ of ['one', 'two']) {
      const sent = a2a.rpc('SendMessage', message);
      const run = await deployment.worker.take();
      await run.succeed(answered(run.claimed, 'echo'));
      ids.push((await sent).result.task.id);
    }
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('is one of a caller and an agent: nobody else gets its task', async () => {
    const { contextId: _, ...message } = inContext('mine');
    const mine = await a2a.rpc('SendMessage', { ...message, configuration: { returnImmediately: true } });
    await (await deployment.worker.take()).succeed({ messages: [] });
    const { json } = await ask(`${deployment.url}/a2a/chat/message:send`, {
      body: { ...message, configuration: { returnImmediately: true } },
      headers: V1,
    });
    await (await deployment.worker.take()).succeed({ messages: [] });
    expect((json as Json).task.id).not.toBe(mine.result.task.id);
  });

  it('is refused as the first time when it can be none, or its task was deleted', async () => {
    const deep = JSON.stringify(inContext('x', { metadata: { a: 'deep' } })).replace(
      '"deep"',
      '['.repeat(20_000) + ']'.repeat(20_000),
    );
    const json = { ...V1, 'content-type': 'application/json' };
    const refused = await fetch(`${a2a.base}/message:send`, { method: 'POST', body: deep, headers: json });
    expect(refused.status).toBe(400);
    const contextId = randomUUID();
    const message = says('gone', { contextId });
    const sent = a2a.rpc('SendMessage', message);
    await (await deployment.worker.take()).succeed({ messages: [] });
    await sent;
    await deployment.client.threads.delete(contextId);
    expect((await a2a.rpc('SendMessage', message)).error).toMatchObject({ code: -32001 });
  });
});

describe('another text under the id of a message', () => {
  it('becomes a task of its own, and takes the place of no message', async () => {
    const contextId = randomUUID();
    const messageId = 'm1';
    const first = await a2a.complete('first', 'one', { contextId, messageId });
    const sent = a2a.rpc('SendMessage', says('second', { contextId, messageId }));
    const run = await deployment.worker.take();
    const {
      messages: [message],
    } = run.claimed.kwargs.input as { messages: [Json] };
    expect(message).toMatchObject({ id: expect.any(String), additional_kwargs: { a2a: { message_id: messageId } } });
    expect(message.id).not.toBe(messageId);
    const { values } = await deployment.client.threads.get<{ messages: Json[] }>(contextId);
    await run.succeed({ messages: [...values!.messages, message, { type: 'ai', id: randomUUID(), content: 'two' }] });
    const second = (await sent).result.task;
    expect(textsOf(second)).toEqual(['second', 'two']);
    expect(second.history[0].messageId).toBe(messageId);
    expect(textsOf((await a2a.rpc('GetTask', { id: first.id })).result)).toEqual(['first', 'one']);
  });

  it('takes the place of none that is yet to be read by the graph', async () => {
    const contextId = randomUUID();
    const later = { configuration: { returnImmediately: true } };
    for (const text of ['first', 'second']) {
      await a2a.rpc('SendMessage', { ...says(text, { contextId, messageId: 'm1' }), ...later });
    }
    const ids: unknown[] = [];
    for (const _ of ['first', 'second']) {
      const run = await deployment.worker.take();
      ids.push((run.claimed.kwargs.input as { messages: Json[] }).messages[0].id);
      await run.succeed({ messages: [] });
    }
    expect(ids).toEqual(['m1', expect.not.stringMatching(/^m1$/)]);
  });
});

describe('a message with an idempotency key', () => {
  const withKey = (key: string) => ({ 'idempotency-key': key });

  it('is sent once, though it names neither context nor task and its call has another id', async () => {
    const key = randomUUID();
    const message = says('once');
    const call = (id: number, params: object) => ({ jsonrpc: '2.0', id, method: 'SendMessage', params });
    const first = ask(a2a.base, { body: call(1, message), headers: { ...V1, ...withKey(key) } });
    const run = await deployment.worker.take();
    await run.succeed(answered(run.claimed, 'echo: once'));
    const made = await first;
    const again = await ask(elsewhere, { body: call(2, message), headers: { ...V1, ...withKey(key) } });
    expect((again.json as Json).result).toEqual((made.json as Json).result);
    expect([made.headers['idempotent-replayed'], again.headers['idempotent-replayed']]).toEqual([undefined, 'true']);
    const other = await ask(elsewhere, { body: call(3, says('other')), headers: { ...V1, ...withKey(key) } });
    expect(other.json).toMatchObject({ id: 3, error: { code: -32602 } });
    const bad = await ask(elsewhere, { body: call(4, says('other')), headers: { ...V1, ...withKey('ü') } });
    expect(bad.json).toMatchObject({ id: 4, error: { code: -32602 } });
  });

  it.each([
    ['message:send', says('once')],
    ['message:stream', says('once')],
    ['v1/message:send', { message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'once' }] } }],
    ['v1/message:stream', { message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'once' }] } }],
  ])('is sent once to %s', async (path, body) => {
    const headers = withKey(randomUUID());
    const first = ask(`${a2a.base}/${path}`, { body, headers });
    const run = await deployment.worker.take();
    await run.succeed(answered(run.claimed, 'echo: once'));
    expect((await first).text).toContain(run.claimed.runId);
    const again = await ask(`${elsewhere}/${path}`, { body, headers });
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.text).toContain(run.claimed.runId);
    expect((await ask(`${elsewhere}/${path}`, { body: { ...body, configuration: {} }, headers })).status).toBe(400);
  });
});
