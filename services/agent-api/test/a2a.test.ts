import { randomUUID } from 'node:crypto';
import { WebhookReceiver } from '@runyard/test-kit';
import canonicalize from 'canonicalize';
import { flattenedVerify, importJWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A2aClient, answered, brief, dataIn, type Json, says, V1 } from './a2a-client.ts';
import { startDeployment, type TestDeployment } from './deployment.ts';
import { ask, open } from './raw-http.ts';

let deployment: TestDeployment;
let receiver: WebhookReceiver;
let a2a: A2aClient;
beforeAll(async () => {
  receiver = await new WebhookReceiver().open();
  deployment = await startDeployment({
    env: {
      PUBLIC_URLS: 'https://agents.example.com/deployments/echo,https://echo.example.com',
    },
  });
  a2a = new A2aClient(deployment);
});
afterAll(async () => {
  await deployment?.close();
  await receiver?.close();
});

const base = () => a2a.base;
const rpc: A2aClient['rpc'] = (...call) => a2a.rpc(...call);
const complete: A2aClient['complete'] = (...message) => a2a.complete(...message);
const askBack: A2aClient['askBack'] = (...question) => a2a.askBack(...question);
const human = (task: Json) => task.history.find(({ role }: Json) => role === 'ROLE_USER');

describe('cards', () => {
  const forwarded = { 'x-forwarded-host': 'echo.example.com', 'x-forwarded-proto': 'https' };

  it('a card names addresses by which the client reached the server, and is signed for clients of both versions', async () => {
    const path = `${base()}/.well-known/agent-card.json`;
    const pure = (await ask(path, { headers: { ...V1, ...forwarded } })).json as Json;
    expect(pure.supportedInterfaces.map(({ url }: Json) => url)).toEqual(
      Array(4).fill(expect.stringMatching(/^https:\/\/echo\.example\.com\/a2a\/[0-9a-f-]{36}$/)),
    );
    expect(pure).not.toHaveProperty('url');
    const { headers, json } = await ask(path, { headers: forwarded });
    const hybrid = json as Json;
    expect(hybrid).toMatchObject({
      protocolVersion: '0.3.0',
      preferredTransport: 'JSONRPC',
      url: expect.any(String),
      additionalInterfaces: ['JSONRPC', 'HTTP+JSON'].map((transport) => ({ url: hybrid.url, transport })),
    });
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=300',
      vary: expect.stringContaining('A2A-Version'),
    });
    const { keys } = (await ask(`${deployment.url}/.well-known/agent-card-keys.json`)).json as Json;
    const key = await importJWK(keys[0], 'ES256');
    const verify = async ({ signatures, ...card }: Json) => {
      const payload = Buffer.from(canonicalize(card)!).toString('base64url');
      const { protectedHeader } = await flattenedVerify({ ...signatures.at(-1), payload }, key);
      expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'JOSE', kid: keys[0].kid });
    };
    await verify(pure);
    await verify(hybrid);
    await expect(verify({ ...hybrid, name: 'changed' })).rejects.toThrow();
  });

  it.each<Record<string, string>>([
    { 'x-forwarded-host': 'attacker.example.com' },
    { 'x-forwarded-host': 'echo.example.com@attacker.example.com' },
    { 'x-forwarded-host': 'echo.example.com.attacker.example.com' },
    { 'x-forwarded-host': 'echo.example.com:8443' },
    { 'x-forwarded-host': 'agents.example.com', 'x-forwarded-prefix': '/deployments/another' },
    { 'x-forwarded-host': 'agents.example.com', 'x-forwarded-prefix': '/deployments/echo-too' },
    { 'x-forwarded-host': 'agents.example.com' },
    { host: 'attacker.example.com' },
    { host: 'no host' },
  ])('a card that is requested at an address of somebody else is not signed: %j', async (address) => {
    for (const version of [V1, {}]) {
      const { status, json } = await ask(`${base()}/.well-known/agent-card.json`, {
        headers: { ...version, ...address },
      });
      expect(status).toBe(200);
      expect(json).not.toHaveProperty('signatures');
    }
  });

  it('a card names the scheme by which the deployment is known, where a proxy does not say that it ends TLS', async () => {
    const address = { 'x-forwarded-host': 'agents.example.com', 'x-forwarded-prefix': '/deployments/echo/mounted' };
    const { json } = await ask(`${base()}/.well-known/agent-card.json`, { headers: { ...V1, ...address } });
    const { supportedInterfaces, signatures } = json as Json;
    expect(supportedInterfaces[0].url).toMatch(/^https:\/\/agents\.example\.com\/deployments\/echo\/mounted\/a2a\//);
    expect(JSON.parse(Buffer.from(signatures[0].protected, 'base64url').toString())).toMatchObject({
      jku: 'https://agents.example.com/deployments/echo/mounted/.well-known/agent-card-keys.json',
    });
  });

  it('a card is found by the assistant, by the graph and in the query, and of several graphs one has to be named', async () => {
    const { json } = await ask(`${deployment.url}/.well-known/agent-card.json?assistant_id=echo`, { headers: V1 });
    expect(json).toMatchObject({ name: 'echo', capabilities: { streaming: true, pushNotifications: true } });
    expect((await ask(`${deployment.url}/a2a/${randomUUID()}/.well-known/agent-card.json`)).status).toBe(404);
    const extended = (await rpc('GetExtendedAgentCard', {})).result;
    expect(extended.skills.map(({ id }: Json) => id)).toContain('structured-input');
    expect((await ask(`${base()}/extendedAgentCard`, { headers: V1 })).json).toMatchObject({ name: 'echo' });
  });
});

describe('somebody without a key', () => {
  it.each([
    ['/.well-known/agent-card.json', 400],
    ['/.well-known/agent-card.json?assistant_id=none', 404],
    ['/a2a/none/.well-known/agent-card.json', 404],
    ['/a2a/none/1.0/.well-known/agent-card.json', 404],
  ])('does not learn the names of the graphs from %s', async (path, status) => {
    const answer = await ask(deployment.url + path);
    expect(answer.status).toBe(status);
    expect(answer.text).not.toMatch(/echo|assembly/);
  });
});

describe('a message', () => {
  it('becomes a task with the answer as artifact, in the form that the version asks for', async () => {
    const task = await complete('hi');
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED', timestamp: expect.stringMatching(/\.\d{3}Z$/) },
      artifacts: [{ name: 'Assistant Response', parts: [{ text: 'echo: hi' }] }],
      history: [{ role: 'ROLE_USER', parts: [{ text: 'hi' }] }, { role: 'ROLE_AGENT' }],
    });
    expect(JSON.stringify(task)).not.toContain('"kind"');
    for (const [method, headers] of [
      ['tasks/get', V1],
      ['GetTask', {}],
    ] as const) {
      expect((await rpc(method, { id: task.id }, headers)).result).toMatchObject({
        kind: 'task',
        status: { state: 'completed' },
        artifacts: [{ parts: [{ kind: 'text', text: 'echo: hi' }] }],
        history: [{ kind: 'message', role: 'user' }, { role: 'agent' }],
      });
    }
    const extension = 'https://langchain.com/a2a/extensions/history-scope/v1';
    const again = await ask(`${base()}/tasks/${task.id}`, { headers: { 'a2a-extensions': extension } });
    expect([again.json, again.headers['a2a-extensions']]).toEqual([task, extension]);
    expect((await ask(`${base()}/tasks/${task.id}?historyLength=0`)).json).not.toHaveProperty('history');
    expect((await ask(`${base()}/tasks/${task.id}?history_length=1`)).json).toMatchObject({ history: [{}] });
  });

  it('of 0.3 is answered without a version, with files and data in both directions', async () => {
    const parts = [
      { kind: 'text', text: 'look' },
      { kind: 'file', file: { bytes: 'aGk=', mimeType: 'image/png', name: 'hi.png' } },
      { kind: 'data', data: { extra: 1 } },
    ];
    const message = { kind: 'message', role: 'user', messageId: 'm1', parts, metadata: { team: 'red' } };
    const sent = rpc('message/send', { message, context: { tone: 'kind' } }, {});
    const run = await deployment.worker.take();
    expect(run.claimed.kwargs).toMatchObject({
      context: { tone: 'kind' },
      input: {
        extra: 1,
        messages: [
          {
            type: 'human',
            id: 'm1',
            content: [
              { type: 'text', text: 'look' },
              { type: 'image', mimeType: 'image/png', data: 'aGk=' },
            ],
            additional_kwargs: { a2a: { task_id: run.claimed.runId, metadata: { team: 'red' } } },
          },
        ],
      },
    });
    const image = { type: 'image', mimeType: 'image/png', url: 'https://example.com/x.png' };
    await run.succeed(answered(run.claimed, [{ type: 'text', text: 'seen' }, image]));
    const file = { uri: 'https://example.com/x.png', mimeType: 'image/png' };
    expect((await sent).result).toMatchObject({
      kind: 'task',
      artifacts: [
        {
          parts: [
            { kind: 'text', text: 'seen' },
            { kind: 'file', file },
          ],
        },
      ],
      history: [{ parts: [{ text: 'look' }, { kind: 'file', file: { bytes: 'aGk=', name: 'hi.png' } }] }, {}],
    });
  });

  it('over HTTP is answered at once when the client asks for that, and its context goes on with the next', async () => {
    const contextId = randomUUID();
    const first = await ask(`${base()}/message:send`, {
      body: { ...says('one', { context_id: contextId }), configuration: { return_immediately: true } },
      headers: V1,
    });
    expect(first.json).toMatchObject({ task: { contextId, status: { state: 'TASK_STATE_SUBMITTED' } } });
    const run = await deployment.worker.take();
    await run.succeed(answered(run.claimed, 'first'));
    const second = await complete('two', 'second', { contextId });
    expect(second).toMatchObject({ contextId, artifacts: [{ parts: [{ text: 'second' }] }] });
    expect(human(second).parts).toEqual([{ text: 'two' }]);
    const { tasks } = (await ask(`${base()}/tasks?contextId=${contextId}&includeArtifacts=true`)).json as Json;
    expect(tasks.map(({ artifacts }: Json) => artifacts[0].parts[0].text)).toEqual(['second', 'first']);
  });

  it.each<[string, object, number]>([
    ['of the agent', { role: 'agent' }, -32602],
    ['without an id', { messageId: '' }, -32602],
    ['without parts', { parts: [] }, -32602],
    ['with a part of two kinds', { parts: [{ text: 'a', url: 'https://a.example' }] }, -32005],
    ['with bytes that are not base64', { parts: [{ raw: '%%' }] }, -32005],
    ['of an unknown media type', { parts: [{ raw: 'aGk=', mediaType: 'model/obj' }] }, -32005],
    ['in a context that is no UUID', { contextId: 'mine' }, -32602],
    ['to a task that does not exist', { taskId: randomUUID() }, -32001],
    ['that answers nothing', { parts: [{ data: { resume: 1 } }], contextId: randomUUID() }, -32004],
  ])('%s is refused with the error of the protocol', async (_, change, code) => {
    const answer = await rpc('SendMessage', says('x', change));
    expect(answer.error).toMatchObject({ code });
    const overHttp = await ask(`${base()}/message:send`, { body: says('x', change) });
    expect(overHttp.status).toBe(code === -32001 ? 404 : 400);
    expect(overHttp.json).toMatchObject({ error: { code: overHttp.status, message: expect.any(String) } });
  });
});

describe('a call', () => {
  const send = (message: object, configuration: object = {}) => ({
    ...{ jsonrpc: '2.0', id: 1, method: 'SendMessage' },
    params: { ...says('x', message), configuration },
  });

  it('at the address of the agent with a slash at its end is answered too', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'zap' } };
    for (const end of ['/', '/?a=/']) {
      expect((await ask(base() + end, { body, headers: V1 })).json).toMatchObject({ id: 1, error: { code: -32001 } });
    }
    expect((await ask(`${base()}//`, { body, headers: V1 })).status).toBe(404);
  });

  it.each<[string, unknown, number]>([
    ['of no object', [], -32600],
    ['of another version of JSON-RPC', { jsonrpc: '1.0', id: 1, method: 'GetTask' }, -32600],
    ['without an id', { jsonrpc: '2.0', method: 'GetTask' }, -32600],
    ['of an unknown method', { jsonrpc: '2.0', id: 1, method: 'tasks/explode' }, -32601],
    ['of a name that every object has', { jsonrpc: '2.0', id: 1, method: 'constructor' }, -32601],
    ['with parameters that are no object', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: [1] }, -32602],
    ['about an id that is no text', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 5 } }, -32602],
    ['about an unknown task', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'zap' } }, -32001],
    ['with an extension that is no text', send({ extensions: [{ toString: 1, valueOf: 1 }] }), -32602],
    ['that accepts what is no text', send({}, { acceptedOutputModes: [{ toString: null, valueOf: null }] }), -32602],
  ])('%s gets the error of the protocol', async (_, body, code) => {
    const answer = await ask(base(), { body, headers: V1 });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ jsonrpc: '2.0', error: { code } });
  });

  it('in a version that is not spoken, of bad JSON or to an unknown assistant gets the error of the protocol', async () => {
    const unknown = (await rpc('GetTask', { id: 'x' }, { 'a2a-version': '9.1' })).error;
    expect(unknown).toMatchObject({ code: -32009, data: [{ reason: 'VERSION_NOT_SUPPORTED' }] });
    const called = { ...V1, 'content-type': 'application/json' };
    const bad = await fetch(base(), { method: 'POST', body: '{"a":', headers: called });
    expect(await bad.json()).toMatchObject({ id: null, error: { code: -32700 } });
    const depth = 20_000;
    const text = JSON.stringify(send({ metadata: { a: 'deep' } })).replace(
      '"deep"',
      '['.repeat(depth) + ']'.repeat(depth),
    );
    const json = { ...V1, 'content-type': 'application/a2a+json; charset=utf-8' };
    const deep = await fetch(base(), { method: 'POST', body: text, headers: json });
    expect(await deep.json()).toMatchObject({ id: 1, error: { code: -32602 } });
    const body = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } };
    expect((await ask(`${deployment.url}/a2a/${randomUUID()}`, { body })).json).toMatchObject({
      error: { code: -32602 },
    });
    const overHttp = await ask(`${base()}/tasks`, { headers: { 'a2a-version': '0.3' } });
    expect([overHttp.status, overHttp.json]).toMatchObject([400, { error: { status: 'INVALID_ARGUMENT' } }]);
  });
});

describe('a body', () => {
  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'that is called %s is refused, though it is JSON',
    async (type) => {
      const headers = { ...V1, 'content-type': type };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'zap' } });
      const rpcAnswer = await fetch(base(), { method: 'POST', body, headers });
      expect(await rpcAnswer.json()).toMatchObject({ error: { code: -32005 } });
      const sent = await fetch(`${base()}/message:send`, { method: 'POST', body: JSON.stringify(says('x')), headers });
      expect([sent.status, await sent.json()]).toMatchObject([
        400,
        { error: { details: [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED' }] } },
      ]);
    },
  );

  it('that is called text, and is none of JSON, is refused for what it is called', async () => {
    const headers = { ...V1, 'content-type': 'text/plain' };
    const answer = await fetch(base(), { method: 'POST', body: 'hello', headers });
    expect(await answer.json()).toMatchObject({ error: { code: -32005 } });
  });

  it('that nothing is called is read as JSON', async () => {
    const body = new Blob([JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'zap' } })]);
    const answer = await fetch(base(), { method: 'POST', body, headers: V1 });
    expect(await answer.json()).toMatchObject({ error: { code: -32001 } });
  });
});

describe('a task', () => {
  it('streams its answer as it is written, and every reader gets it whole at the end', async () => {
    const stream = await open(`${base()}/message:stream`, { body: says('tell'), headers: V1 });
    expect(stream.headers['content-type']).toContain('text/event-stream');
    await stream.until('TASK_STATE_SUBMITTED');
    const run = await deployment.worker.take();
    const { runId } = run.claimed;
    const subscribed = await open(base(), {
      body: { jsonrpc: '2.0', id: 's', method: 'SubscribeToTask', params: { id: runId } },
      headers: V1,
    });
    const old = await open(base(), {
      body: { jsonrpc: '2.0', id: 'o', method: 'tasks/resubscribe', params: { id: runId } },
    });
    const chunk = (content: string) => [{ type: 'AIMessageChunk', id: 'a', content }, {}];
    await run.emit('messages-tuple', chunk('Once '), 'messages');
    await run.emit('messages-tuple', chunk('upon'), 'messages');
    await Promise.all([stream, subscribed, old].map((each) => each.until('upon')));
    await run.succeed(answered(run.claimed, 'Once upon a time'));
    const events = dataIn(await stream.complete);
    expect(events.slice(1).map(brief)).toEqual([
      'TASK_STATE_WORKING',
      'Once  false false',
      'upon true false',
      'Once upon a time false true',
      'TASK_STATE_COMPLETED',
    ]);
    const enveloped = dataIn(await subscribed.complete);
    expect(enveloped.every(({ id }: Json) => id === 's')).toBe(true);
    expect(enveloped.slice(1).map(({ result }: Json) => brief(result))).toEqual(events.slice(1).map(brief));
    expect(dataIn(await old.complete).at(-1)).toMatchObject({
      result: { kind: 'status-update', final: true, status: { state: 'completed' } },
    });
    const over = await rpc('SubscribeToTask', { id: runId });
    expect(over.error).toMatchObject({ code: -32004 });
  });

  it('that asks waits for input, and goes on under its id when it is answered once', async () => {
    const asked = await askBack();
    expect(asked).toMatchObject({
      status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'Really?' }] } },
      artifacts: [{ name: 'Interrupt', parts: [{ data: { id: 'i1', value: 'Really?' } }] }],
    });
    const { id: taskId } = asked;
    const other = await rpc('SendMessage', says('yes', { taskId, contextId: randomUUID() }));
    expect(other.error).toMatchObject({ code: -32602 });
    const resumed = rpc('SendMessage', says('yes', { taskId }));
    const run = await deployment.worker.take();
    expect(run.claimed.kwargs).toMatchObject({ command: { resume: 'yes' }, input: null });
    expect(run.claimed.metadata).toMatchObject({ task_id: taskId, task_start_id: taskId });
    expect((await rpc('SendMessage', says('no', { taskId }))).error).toMatchObject({ code: -32004 });
    await run.succeed({ messages: [{ type: 'ai', content: 'done' }] });
    expect((await resumed).result.task).toMatchObject({ id: taskId, status: { state: 'TASK_STATE_COMPLETED' } });
    expect((await rpc('SendMessage', says('more', { taskId }))).error).toMatchObject({ code: -32004 });
  });

  it('is answered by data too, and by a command beside the message of 0.3', async () => {
    const first = await askBack();
    const byData = rpc(
      'SendMessage',
      says('', { parts: [{ data: { resume: { ok: true } } }], contextId: first.contextId }),
    );
    const run = await deployment.worker.take();
    expect(run.claimed.kwargs.command).toEqual({ resume: { ok: true } });
    await run.succeed({ messages: [] });
    expect((await byData).result.task.id).toBe(first.id);
    const second = await askBack();
    const message = { role: 'user', messageId: 'm', parts: [{ kind: 'text', text: '-' }], taskId: second.id };
    const byCommand = rpc('message/send', { message, command: { resume: 5 } }, {});
    const next = await deployment.worker.take();
    expect(next.claimed.kwargs.command).toEqual({ resume: 5 });
    await next.fail({ error: 'Error', message: 'no luck' });
    expect((await byCommand).result).toMatchObject({
      status: { state: 'failed', message: { parts: [{ text: 'Error: no luck' }] } },
    });
  });

  it('outlives the process that took its message: another one streams all of it, and takes the answer', async () => {
    const another = await deployment.startAnother();
    const stream = await open(`${another.url}/a2a/echo/message:stream`, { body: says('x'), headers: V1 });
    const run = await deployment.worker.take();
    const { runId: taskId } = run.claimed;
    const chunk = [{ type: 'AIMessageChunk', id: 'a', content: 'Hm.' }, {}];
    await run.emit('messages-tuple', chunk, 'messages');
    await stream.until('Hm.');
    await another.stop({ signal: 'SIGKILL' });
    const followed = await open(`${base()}/tasks/${taskId}:subscribe`, { headers: V1 });
    await followed.until('Hm.');
    await run.ask({ messages: [] }, [{ id: 'i', value: 'Really?' }]);
    expect(
      dataIn(await followed.complete)
        .slice(1)
        .map(brief),
    ).toEqual(['TASK_STATE_WORKING', 'Hm. false false', 'undefined false true', 'TASK_STATE_INPUT_REQUIRED']);
    const resumed = rpc('SendMessage', says('yes', { taskId }));
    await (await deployment.worker.take()).succeed({ messages: [{ type: 'ai', content: 'done' }] });
    expect((await resumed).result.task).toMatchObject({ id: taskId, status: { state: 'TASK_STATE_COMPLETED' } });
  });

  it('that waits is followed until it asks again or ends, by those who subscribe meanwhile', async () => {
    const { id } = await askBack();
    const streams = await Promise.all([
      open(`${base()}/tasks/${id}:subscribe`, { headers: V1 }),
      open(base(), { body: { jsonrpc: '2.0', id: 'o', method: 'tasks/resubscribe', params: { id } } }),
    ]);
    await streams[0].until('TASK_STATE_INPUT_REQUIRED');
    await streams[1].until('input-required');
    const sent = rpc('SendMessage', says('yes', { taskId: id }));
    const run = await deployment.worker.take();
    await run.emit('messages-tuple', [{ type: 'AIMessageChunk', id: 'a', content: 'Hm.' }, {}], 'messages');
    await Promise.all(streams.map((each) => each.until('Hm.')));
    await run.ask({ messages: [] }, [{ id: 'i2', value: 'Sure?' }]);
    await sent;
    const [events, old] = await Promise.all(streams.map(async (each) => dataIn(await each.complete)));
    expect(events!.slice(1).map(brief)).toEqual([
      'TASK_STATE_WORKING',
      'Hm. false false',
      'undefined false true',
      'TASK_STATE_INPUT_REQUIRED',
    ]);
    const finals = old!.map(({ result }: Json) => result.final).filter((final: unknown) => final !== undefined);
    expect(finals).toEqual([false, true]);
    const waiting = await open(`${base()}/tasks/${id}:subscribe`, { headers: V1 });
    await waiting.until('Sure?');
    await rpc('CancelTask', { id });
    expect(
      dataIn(await waiting.complete)
        .slice(1)
        .map(brief),
    ).toEqual(['TASK_STATE_CANCELED']);
  });

  it('is canceled while it works or waits, and not when it has ended', async () => {
    const { task } = (await rpc('SendMessage', { ...says('x'), configuration: { returnImmediately: true } })).result;
    const run = await deployment.worker.take();
    const cancel = ask(`${base()}/tasks/${task.id}:cancel`, { method: 'POST' });
    await deployment.worker.order(run);
    await run.interrupt({ messages: [] });
    expect((await cancel).json).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_CANCELED' } });
    expect((await rpc('tasks/cancel', { id: task.id })).result).toMatchObject({ status: { state: 'canceled' } });
    const waiting = await askBack();
    expect((await rpc('CancelTask', { id: waiting.id })).result.status.state).toBe('TASK_STATE_CANCELED');
    expect((await rpc('SendMessage', says('yes', { taskId: waiting.id }))).error).toMatchObject({ code: -32004 });
    const done = await complete('x');
    expect((await rpc('CancelTask', { id: done.id })).error).toMatchObject({ code: -32002 });
    expect((await rpc('CancelTask', { id: randomUUID() })).error).toMatchObject({ code: -32001 });
  });

  it('whose question another message takes away is canceled, says why, and tells its receivers', async () => {
    const path = `/${randomUUID()}`;
    const { id, contextId } = await askBack('Sure?', { taskPushNotificationConfig: { url: receiver.url(path) } });
    const other = await complete('never mind', 'as you like', { contextId });
    expect(other.status.state).toBe('TASK_STATE_COMPLETED');
    const canceled = {
      id,
      status: { state: 'TASK_STATE_CANCELED', message: { parts: [{ text: expect.stringContaining('taken away') }] } },
    };
    const shown = (await rpc('GetTask', { id })).result;
    expect(shown).toMatchObject(canceled);
    const listed = await rpc('ListTasks', { contextId, status: 'TASK_STATE_CANCELED' });
    expect(listed.result.tasks).toMatchObject([canceled]);
    expect((await rpc('SendMessage', says('yes', { taskId: id }))).error).toMatchObject({ code: -32004 });
    const received = await receiver.received(path, 2);
    const told = received.map(({ body }) => (body as Json).task);
    expect(told.find(({ status }: Json) => status.state === 'TASK_STATE_CANCELED')).toMatchObject(canceled);
  });

  it('that asks while another run of its context waits is canceled at once', async () => {
    const sent = rpc('SendMessage', says('may I?'));
    const run = await deployment.worker.take();
    const { threadId } = run.claimed;
    await deployment.client.runs.create(threadId, 'echo', { input: { messages: [] } });
    await run.ask({ messages: [] }, [{ id: 'i1', value: 'Really?' }]);
    expect((await sent).result.task.status.state).toBe('TASK_STATE_CANCELED');
    await (await deployment.worker.take()).succeed({ messages: [] });
  });

  it('goes on when a run of another protocol answers its question', async () => {
    const { id, contextId } = await askBack();
    await deployment.client.runs.create(contextId, 'echo', { command: { resume: 'yes' } });
    expect((await rpc('GetTask', { id })).result.status.state).toBe('TASK_STATE_SUBMITTED');
    const run = await deployment.worker.take();
    expect(run.claimed.metadata).toMatchObject({ task_id: id });
    await run.succeed({ messages: [{ type: 'ai', content: 'done' }] });
    expect((await rpc('GetTask', { id })).result).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'done' }] }],
    });
  });

  it('is listed by page, state, time and context, and belongs to its assistant', async () => {
    const contextId = randomUUID();
    const ids: string[] = [];
    for (const text of ['a', 'b', 'c']) ids.unshift((await complete(text, text, { contextId })).id);
    const { tasks, nextPageToken, totalSize } = (await rpc('ListTasks', { contextId, pageSize: 2 })).result;
    expect([tasks.map(({ id }: Json) => id), totalSize]).toEqual([ids.slice(0, 2), 3]);
    expect(tasks[0]).not.toHaveProperty('artifacts');
    const rest = (await rpc('ListTasks', { contextId, pageSize: 2, pageToken: nextPageToken })).result;
    expect(rest).toMatchObject({ tasks: [{ id: ids[2] }], nextPageToken: '', pageSize: 2 });
    const since = await rpc('ListTasks', {
      contextId,
      statusTimestampAfter: tasks[1].status.timestamp,
      historyLength: 1,
    });
    expect(since.result.tasks.map(({ id }: Json) => id)).toEqual(ids.slice(0, 2));
    expect(since.result.tasks[0].history).toHaveLength(1);
    const failed = await rpc('ListTasks', { contextId, status: 'TASK_STATE_FAILED' });
    expect(failed.result).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 });
    for (const wrong of [{ pageSize: 0 }, { pageToken: 'zap' }, { status: 'DONE' }]) {
      expect((await rpc('ListTasks', wrong)).error).toMatchObject({ code: -32602 });
    }
    const days = ['0000-01-01', '-000001-01-01', '275760-09-13'].map((day) => `${day}T00:00:00Z`);
    const offsets = ['0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'];
    for (const statusTimestampAfter of ['now', '1', '2026-01-01', ...days, ...offsets]) {
      expect((await rpc('ListTasks', { statusTimestampAfter })).error, statusTimestampAfter).toMatchObject({
        code: -32602,
      });
    }
    expect(await rpc('ListTasks', { statusTimestampAfter: '2026-01-01t00:00:00.5-08:00' })).toHaveProperty('result');
    const elsewhere = await ask(`${deployment.url}/a2a/chat/tasks/${ids[0]}`);
    expect([elsewhere.status, elsewhere.json]).toMatchObject([
      404,
      { error: { details: [{ reason: 'TASK_NOT_FOUND' }] } },
    ]);
  });

  it('keeps its answer when the values of its run are no longer kept', async () => {
    const task = await complete('old');
    await deployment.pool.query('UPDATE run SET result = NULL WHERE run_id = $1', [task.id]);
    expect((await rpc('GetTask', { id: task.id })).result).toEqual(task);
  });
});

describe('push notifications', () => {
  it('are configured, shown and removed, by JSON-RPC and by HTTP', async () => {
    const task = await complete('x');
    const url = receiver.url(`/${randomUUID()}`);
    const configs = `${base()}/tasks/${task.id}/pushNotificationConfigs`;
    const authentication = { scheme: 'Bearer', credentials: 'secret' };
    const body = { id: 'chosen', url, token: 't', authentication };
    const made = (await ask(configs, { body })).json as Json;
    expect(made).toEqual({ id: 'chosen', taskId: task.id, url, token: 't', authentication });
    expect((await ask(configs, { body })).json).toEqual(made);
    const shown = { id: 'chosen', taskId: task.id, url, authentication: { scheme: 'Bearer' } };
    expect((await ask(configs)).json).toEqual({ configs: [shown], nextPageToken: '' });
    expect((await ask(`${configs}/${made.id}`)).json).toEqual(shown);
    expect((await rpc('tasks/pushNotificationConfig/list', { id: task.id })).result).toEqual([
      {
        taskId: task.id,
        pushNotificationConfig: {
          id: made.id,
          url,
          authentication: { schemes: ['Bearer'] },
        },
      },
    ]);
    const { rows } = await deployment.pool.query('SELECT count(*) FROM a2a_push_config WHERE task_id = $1', [task.id]);
    expect(rows).toEqual([{ count: '1' }]);
    expect((await ask(`${configs}/${made.id}`, { method: 'DELETE' })).status).toBe(204);
    expect((await ask(`${configs}/${made.id}`)).status).toBe(404);
    const pushNotificationConfig = { id: 'chosen', url };
    for (const _ of ['made', 'replaced']) {
      await rpc('tasks/pushNotificationConfig/set', { taskId: task.id, pushNotificationConfig });
    }
    expect((await ask(configs)).json).toMatchObject({ configs: [{ id: 'chosen' }] });
    expect((await ask(configs, { body: { url } })).json).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect((await ask(configs, { body: { url, id: 'x'.repeat(3_000) } })).status).toBe(400);
    for (const wrong of ['/path', 'http://10.0.0.1/x', 'not a url', 'file:///etc/passwd']) {
      expect((await ask(configs, { body: { url: wrong } })).status).toBe(400);
    }
  });

  it('have at most twenty receivers, however many come at once and with which message', async () => {
    const { id: taskId } = await askBack();
    const url = receiver.url(`/${randomUUID()}`);
    const configs = `${base()}/tasks/${taskId}/pushNotificationConfigs`;
    const made = await Promise.all(Array.from({ length: 24 }, () => ask(configs, { body: { url } })));
    expect(made.filter(({ status }) => status === 200)).toHaveLength(20);
    const { json } = await ask(configs);
    const [known, ...others] = (json as Json).configs;
    expect(others).toHaveLength(19);
    expect((await ask(configs, { body: { id: known.id, url } })).status).toBe(200);
    const configuration = { taskPushNotificationConfig: { url } };
    const refused = await rpc('SendMessage', { ...says('yes', { taskId }), configuration });
    expect(refused.error).toMatchObject({ code: -32004, message: expect.stringContaining('at most 20') });
    expect((await rpc('GetTask', { id: taskId })).result.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await rpc('CancelTask', { id: taskId });
  });

  it('carry the task to each receiver when it asks and when it ends, in the form of its version', async () => {
    const [path, oldPath] = [`/${randomUUID()}`, `/${randomUUID()}`];
    const authentication = { scheme: 'Bearer', credentials: 'secret' };
    const taskPushNotificationConfig = { url: receiver.url(path), token: 't', authentication };
    const sent = rpc('SendMessage', { ...says('x'), configuration: { taskPushNotificationConfig } });
    const run = await deployment.worker.take();
    const { runId: taskId } = run.claimed;
    const pushNotificationConfig = { url: receiver.url(oldPath) };
    await rpc('tasks/pushNotificationConfig/set', { taskId, pushNotificationConfig }, {});
    await run.ask({ messages: [] }, [{ id: 'i', value: 'Sure?' }]);
    await sent;
    const [asked] = await receiver.received(path);
    expect(asked?.headers).toMatchObject({
      'content-type': 'application/a2a+json',
      authorization: 'Bearer secret',
      'x-a2a-notification-token': 't',
      'webhook-signature': expect.any(String),
    });
    expect(asked?.body).toMatchObject({ task: { id: taskId, status: { state: 'TASK_STATE_INPUT_REQUIRED' } } });
    const [old] = await receiver.received(oldPath);
    expect(old?.headers['content-type']).toBe('application/json');
    expect(old?.body).toMatchObject({ kind: 'task', id: taskId, status: { state: 'input-required' } });
    const resumed = rpc('SendMessage', says('yes', { taskId }));
    await (await deployment.worker.take()).succeed({ messages: [{ type: 'ai', content: 'done' }] });
    await resumed;
    const [, ended] = await receiver.received(path, 2);
    expect(ended?.body).toMatchObject({
      task: { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: 'done' }] }] },
    });
  });

  it('tell of the cancel of a task that waits, after its question', async () => {
    const path = `/${randomUUID()}`;
    const { id } = await askBack('Sure?', { taskPushNotificationConfig: { url: receiver.url(path) } });
    await rpc('CancelTask', { id });
    const received = await receiver.received(path, 2);
    expect(received.map(({ body }) => (body as Json).task.status.state).sort()).toEqual([
      'TASK_STATE_CANCELED',
      'TASK_STATE_INPUT_REQUIRED',
    ]);
  });
});
