import { randomUUID } from 'node:crypto';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import { ask, open, type RawAnswer } from './raw-http.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of the protocol are looked into at many places.
type Json = any;
type Headers = Record<string, string>;

let deployment: TestDeployment;
/** Another process of the deployment. */
let elsewhere: string;
beforeAll(async () => {
  // The schemas of these graphs are not read off their source, which takes seconds for each.
  const LANGSERVE_GRAPHS = JSON.stringify({
    echo: './graphs/carried-schemas.ts:echo',
    letter: './graphs/carried-schemas.ts:letter',
    assembly: { path: './graphs/carried-schemas.ts:assembly', description: 'Puts parts together' },
  });
  deployment = await startDeployment({ env: { LANGSERVE_GRAPHS } });
  elsewhere = (await deployment.startAnother()).url;
});
afterAll(() => deployment?.close());

const NEW = '2026-07-28';
const META = 'io.modelcontextprotocol';
const TASKS = { extensions: { [`${META}/tasks`]: {} } };
const FORMS = { elicitation: {} };
let ids = 0;

const url = () => `${deployment.url}/mcp`;
const frame = (method: string, params: object, id: unknown = ++ids) => ({ jsonrpc: '2.0', id, method, params });

/** Returns a request of the new revision. */
function modern(method: string, params: Json = {}, capabilities: object = {}): { body: object; headers: Headers } {
  const _meta = {
    ...params._meta,
    [`${META}/protocolVersion`]: NEW,
    [`${META}/clientInfo`]: { name: 'test', version: '1' },
    [`${META}/clientCapabilities`]: capabilities,
  };
  const name = params.name ?? params.taskId;
  return {
    body: frame(method, { ...params, _meta }),
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': NEW,
      'mcp-method': method,
      ...(name && { 'mcp-name': name }),
    },
  };
}
const legacy = (method: string, params: object = {}, headers: Headers = {}) => ({
  body: frame(method, params),
  headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25', ...headers },
});

async function call(request: { body: object; headers: Headers }): Promise<Json> {
  return (await ask(url(), request)).json;
}
const modernly = async (method: string, params?: object, capabilities?: object) =>
  (await call(modern(method, params, capabilities))).result;
const echo = (messages = 'hi') => ({ name: 'echo', arguments: { messages } });

/** Initializes a session of a client with these capabilities, and returns its headers. */
async function initialize(capabilities: object, protocolVersion = '2025-11-25'): Promise<Headers> {
  const clientInfo = { name: 'test', version: '1' };
  const { headers, json } = await ask(url(), legacy('initialize', { protocolVersion, capabilities, clientInfo }));
  expect(json).toMatchObject({ result: { protocolVersion, serverInfo: { name: expect.any(String) } } });
  return { 'mcp-session-id': String(headers['mcp-session-id']) };
}
const messagesIn = (text: string): Json[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json);
async function message(answer: RawAnswer, part: string): Promise<Json> {
  return messagesIn(await answer.until(part)).find((each) => JSON.stringify(each).includes(part));
}
const question = { id: 'i1', value: 'Really?' };
const accept = (content: object) => ({ action: 'accept', content });

describe('both kinds of revisions', () => {
  it('are served side by side: discovered in the new one, and by a handshake in the others', async () => {
    expect(await modernly('server/discover')).toMatchObject({
      resultType: 'complete',
      supportedVersions: [NEW, '2025-11-25', '2025-06-18', '2025-03-26'],
      capabilities: { tools: {}, ...TASKS },
      ttlMs: expect.any(Number),
      cacheScope: 'private',
      _meta: { [`${META}/serverInfo`]: { name: expect.any(String), version: expect.any(String) } },
    });
    await initialize({}, '2025-06-18');
    const unknown = await call(legacy('initialize', { protocolVersion: '1999-01-01', capabilities: {} }));
    expect(unknown.result).toMatchObject({ protocolVersion: '2025-11-25', capabilities: { tasks: { list: {} } } });
    expect((await call(legacy('ping'))).result).toEqual({});
    const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect(await ask(url(), { body: initialized })).toMatchObject({ status: 202, text: '' });
  });

  it.each(['GET', 'DELETE'])('%s is not allowed: nothing is kept between requests', async (method) => {
    expect((await ask(url(), { method })).status).toBe(405);
  });

  const unsupported = { code: -32022, data: { requested: 'v9', supported: expect.arrayContaining([NEW]) } };
  const wrongVersion = { ...modern('tools/list').body } as Json;
  const withMeta = (change: object) => {
    const { body, headers } = modern('tools/list') as Json;
    return { headers, body: { ...body, params: { _meta: { ...body.params._meta, ...change } } } };
  };
  const withHeaders = (request: Json, change: object) => ({ ...request, headers: { ...request.headers, ...change } });
  it.each<[string, () => Json, number, object]>([
    ['without _meta', () => ({ ...modern('tools/list'), body: frame('tools/list', {}) }), 400, { code: -32602 }],
    ['without capabilities', () => withMeta({ [`${META}/clientCapabilities`]: undefined }), 400, { code: -32602 }],
    [
      'of an unknown version',
      () => withHeaders(withMeta({ [`${META}/protocolVersion`]: 'v9' }), { 'mcp-protocol-version': 'v9' }),
      400,
      unsupported,
    ],
    [
      'of another version than its header',
      () => withMeta({ [`${META}/protocolVersion`]: 'v9' }),
      400,
      { code: -32020 },
    ],
    [
      'with another Mcp-Method',
      () => withHeaders(modern('tools/list'), { 'mcp-method': 'tools/call' }),
      400,
      { code: -32020 },
    ],
    [
      'with another Mcp-Name',
      () => withHeaders(modern('tools/call', echo()), { 'mcp-name': 'other' }),
      400,
      { code: -32020 },
    ],
    [
      'with a Mcp-Name that is no base64',
      () => withHeaders(modern('tools/call', echo()), { 'mcp-name': '=?base64?%%?=' }),
      400,
      { code: -32020 },
    ],
    [
      'with a Mcp-Name whose base64 lacks its padding',
      () => withHeaders(modern('tools/call', echo()), { 'mcp-name': '=?base64?ZWNobw?=' }),
      400,
      { code: -32020 },
    ],
    ['of an unknown method', () => modern('resources/list'), 404, { code: -32601 }],
    ['of a method that is no more', () => modern('ping'), 404, { code: -32601 }],
    ['of an old client and an unknown method', () => legacy('resources/list'), 200, { code: -32601 }],
    [
      'of an old client and an unknown version',
      () => legacy('ping', {}, { 'mcp-protocol-version': 'v9' }),
      400,
      unsupported,
    ],
    ['with a session of nobody', () => legacy('ping', {}, { 'mcp-session-id': 'a.b' }), 404, { code: -32600 }],
    ['in a batch', () => ({ ...legacy('ping'), body: [wrongVersion] }), 400, { code: -32600 }],
    [
      'without a version of JSON-RPC',
      () => ({ ...legacy('ping'), body: { id: 1, method: 'ping' } }),
      400,
      { code: -32600 },
    ],
    [
      'with params that are a list',
      () => ({ ...legacy('ping'), body: { ...frame('ping', {}), params: [] } }),
      400,
      { code: -32600 },
    ],
    ['that takes no form of answer', () => withHeaders(legacy('ping'), { accept: 'text/html' }), 400, { code: -32600 }],
    ['of a tool that does not exist', () => modern('tools/call', { name: 'none' }), 200, { code: -32602 }],
    ['with a cursor of another list', () => modern('tools/list', { cursor: '%' }), 200, { code: -32602 }],
    [
      'with arguments that are a text',
      () => modern('tools/call', { name: 'echo', arguments: 'x' }),
      200,
      { code: -32602 },
    ],
  ])('a request %s gets the error of the protocol', async (_, request, status, error) => {
    const answer = await ask(url(), request());
    expect([answer.status, answer.json]).toMatchObject([status, { jsonrpc: '2.0', error }]);
  });

  it('what is no JSON, or too large, gets an error of JSON-RPC', async () => {
    const response = await fetch(url(), { method: 'POST', body: '{"jsonrpc":' });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: -32700 } }]);
  });

  it('a body that is called something else than JSON is refused', async () => {
    const { body, headers } = legacy('ping', {}, { 'content-type': 'text/plain' });
    const answer = await fetch(url(), { method: 'POST', body: JSON.stringify(body), headers: headers as HeadersInit });
    expect([answer.status, await answer.json()]).toMatchObject([415, { error: { code: -32600 } }]);
  });

  it('a call at its address with a slash at the end is answered too', async () => {
    expect((await ask(`${url()}/`, legacy('ping'))).status).toBe(200);
    expect((await ask(`${url()}/x`, legacy('ping'))).status).toBe(404);
  });

  it('pages of foreign origins are refused, local ones are not', async () => {
    const from = (origin: string) => ask(url(), legacy('ping', {}, { origin }));
    expect(await from('https://evil.example.com')).toMatchObject({ status: 403, json: { error: { code: -32600 } } });
    expect((await from('null')).status).toBe(403);
    expect((await from('http://localhost:6274')).status).toBe(200);
  });

  it('a page that reaches this machine under a name of its own is refused', async () => {
    const to = async (headers: Headers) => (await ask(url(), legacy('ping', {}, headers))).status;
    expect(await to({ host: 'evil.example.com' })).toBe(403);
    const forwarded = { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-host': 'evil.example.com' };
    expect(await to({ ...forwarded, 'x-forwarded-prefix': '/deployments/a' })).toBe(403);
    // The gateway has found the deployment by this name.
    expect(await to({ ...forwarded, 'x-forwarded-host': 'agent.example.com' })).toBe(200);
    expect(await to({ ...forwarded, 'x-forwarded-for': '192.0.2.1', 'x-forwarded-prefix': '/deployments/a' })).toBe(
      200,
    );
  });
});

describe('assistants', () => {
  it('are tools under names that the protocol takes, and messages are one text', async () => {
    const { tools, ttlMs, cacheScope } = await modernly('tools/list');
    expect([typeof ttlMs, cacheScope]).toEqual(['number', 'private']);
    const names = tools.map(({ name }: Json) => name);
    expect(names).toEqual([...names].sort());
    const tool = tools.find(({ name }: Json) => name === 'echo');
    expect(tool).toMatchObject({
      title: 'echo',
      description: 'Tool based on the echo assistant',
      inputSchema: { type: 'object', properties: { messages: { type: 'string' } }, required: ['messages'] },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: false, openWorldHint: true },
    });
    expect(tools.find(({ name }: Json) => name === 'assembly').description).toBe('Puts parts together');
    expect(tool).not.toHaveProperty('execution');
    const old = (await call(legacy('tools/list'))).result;
    expect(old).not.toHaveProperty('resultType');
    expect(old.tools.find(({ name }: Json) => name === 'echo').execution).toEqual({ taskSupport: 'optional' });
  });

  it('of one name are hidden, and names are brought into the form of tools', async () => {
    const mark = `m${randomUUID().slice(0, 8)}`;
    const create = (name: string) => deployment.client.assistants.create({ graphId: 'echo', name });
    await create(` ${mark} two words! `);
    await create(`${mark} twice`);
    await create(`${mark} twice?`);
    const { tools } = await modernly('tools/list');
    const names = tools.map(({ name }: Json) => name).filter((name: string) => name.startsWith(mark));
    expect(names).toEqual([`${mark}_two_words`]);
    const twice = await call(modern('tools/call', { name: `${mark}_twice` }));
    expect(twice.error).toMatchObject({ code: -32602 });
  });

  it('are listed in pages of 100', async () => {
    const mark = randomUUID().slice(0, 8);
    await Promise.all(
      Array.from({ length: 101 }, (_, n) =>
        deployment.client.assistants.create({ graphId: 'echo', name: `${mark}-${n}` }),
      ),
    );
    const first = await modernly('tools/list');
    expect(first.tools).toHaveLength(100);
    const second = await modernly('tools/list', { cursor: first.nextCursor });
    const all = [...first.tools, ...second.tools].filter(({ name }: Json) => name.startsWith(mark));
    expect(new Set(all.map(({ name }: Json) => name)).size).toBe(101);
    const found = await deployment.client.assistants.search({ limit: 200 });
    const own = found.filter(({ name }) => name.startsWith(mark));
    await Promise.all(own.map(({ assistant_id: id }) => deployment.client.assistants.delete(id)));
  });
});

describe('a call', () => {
  it('is a run on a thread of its own, whose state is its result, and the thread goes with the call', async () => {
    const called = call(modern('tools/call', { ...echo(), context: { tone: 'kind' } }));
    const run = await deployment.worker.take();
    expect(run.claimed).toMatchObject({
      keepsThread: true,
      kwargs: { context: { tone: 'kind' }, input: { messages: [{ type: 'human', content: 'hi' }] } },
    });
    const values = { messages: [{ type: 'ai', content: [{ type: 'image', mimeType: 'image/png', data: 'aGk=' }] }] };
    await run.succeed(values);
    const { result } = await called;
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: values });
    expect(result.content).toEqual([
      { type: 'text', text: JSON.stringify(values) },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ]);
    const { threadId } = run.claimed;
    await waitFor(async () => (await ask(`${deployment.url}/threads/${threadId}`, { method: 'GET' })).status === 404, {
      what: 'the thread to be deleted',
    });
  });

  it.each<[string, (params: object) => { body: object; headers: Headers }]>([
    ['the new revision', (params) => modern('tools/call', params)],
    ['an old one', (params) => legacy('tools/call', params)],
  ])('of %s that fails is a result with an error', async (_, request) => {
    const called = call(request(echo()));
    await (await deployment.worker.take()).fail({ error: 'TypeError', message: 'no such thing' });
    const { result } = await called;
    expect(result).toMatchObject({ isError: true, content: [{ text: 'TypeError: no such thing' }] });
    expect(result).not.toHaveProperty('structuredContent');
  });

  it('reports progress on its stream: what the graph says, or else its steps', async () => {
    const answer = await open(url(), modern('tools/call', { ...echo(), _meta: { progressToken: 'p' } }));
    expect(answer.headers['content-type']).toContain('text/event-stream');
    const run = await deployment.worker.take();
    await run.emit('updates', { first: {} });
    await answer.until('"first"');
    await run.emit('custom', { progress: 50, total: 100, message: 'half' });
    await run.emit('updates', { second: {} });
    await run.succeed({ done: true });
    const sent = messagesIn(await answer.complete);
    expect(sent).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 'p', progress: 0, message: 'started' } },
      { method: 'notifications/progress', params: { progress: 1, message: 'first' } },
      { method: 'notifications/progress', params: { progress: 50, total: 100, message: 'half' } },
      { result: { structuredContent: { done: true } } },
    ]);
  });

  it('is the same input of the graph, and has its headers checked, in a process that was asked for no list', async () => {
    const fresh = await deployment.startAnother();
    const { body, headers } = modern('tools/call', { name: 'letter', arguments: { messages: 'hi' } });
    const send = (text: string) => ask(`${fresh.url}/mcp`, { body, headers: { ...headers, 'mcp-param-text': text } });
    const called = send('hi');
    const run = await deployment.worker.take();
    expect(run.claimed.kwargs.input).toEqual({ messages: 'hi' });
    await run.succeed({});
    expect((await called).status).toBe(200);
    expect(await send('other')).toMatchObject({ status: 400, json: { error: { code: -32020 } } });
  });

  it('of a client that takes no events is answered with JSON', async () => {
    const request = legacy('tools/call', { ...echo(), _meta: { progressToken: 1 } }, { accept: 'application/json' });
    const called = ask(url(), request);
    await (await deployment.worker.take()).succeed({ done: 1 });
    const { headers, json } = await called;
    expect(headers['content-type']).toContain('application/json');
    expect(json).toMatchObject({ result: { structuredContent: { done: 1 } } });
  });

  it('ends with its connection in the new revision, and goes on without it in old ones', async () => {
    const params = { ...echo(), _meta: { progressToken: 1 } };
    const newer = await open(url(), modern('tools/call', params));
    const ended = await deployment.worker.take();
    newer.hangUp();
    expect(await deployment.worker.order(ended)).toMatchObject({ action: 'interrupt' });
    await ended.interrupt({});
    const older = await open(url(), legacy('tools/call', params));
    const kept = await deployment.worker.take();
    older.hangUp();
    await kept.emit('custom', { progress: 1 });
    await kept.succeed({ done: true });
    expect(await deployment.worker.engine.getRun(kept.claimed.threadId, kept.claimed.runId)).toMatchObject({
      status: 'success',
    });
  });

  it('of an old client is cancelled by a notification to any process, and by no other client', async () => {
    const session = await initialize({});
    const request = legacy('tools/call', echo(), session);
    const called = call(request);
    const run = await deployment.worker.take();
    const { id } = request.body as Json;
    const cancel = (headers: Headers) =>
      ask(`${elsewhere}/mcp`, {
        headers,
        body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } },
      });
    expect((await cancel(await initialize({}))).status).toBe(202);
    expect((await deployment.worker.engine.getRun(run.claimed.threadId, run.claimed.runId))?.cancelAction).toBeNull();
    expect((await cancel(session)).status).toBe(202);
    expect(await deployment.worker.order(run)).toMatchObject({ action: 'interrupt' });
    await run.interrupt({});
    expect((await called).result).toMatchObject({ isError: true });
  });
});

describe('an interrupt', () => {
  it('asks for input in the new revision, and the call goes on with the answer', async () => {
    const params = { ...echo(), context: { tone: 'kind' } };
    const first = modernly('tools/call', params, FORMS);
    await (await deployment.worker.take()).ask({}, [question]);
    const asked = await first;
    expect(asked).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        i1: {
          method: 'elicitation/create',
          params: { mode: 'form', message: 'Really?', requestedSchema: { properties: { answer: { type: 'string' } } } },
        },
      },
      requestState: expect.any(String),
    });
    const { requestState } = asked;
    const again = (change: object) => modern('tools/call', { ...params, requestState, ...change }, FORMS);
    const missing = (await call(again({ inputResponses: { other: accept({}) } }))).result;
    expect(missing).toMatchObject({ resultType: 'input_required', inputRequests: { i1: {} } });
    const inputResponses = { i1: accept({ answer: 'yes' }) };
    for (const change of [{ arguments: { messages: 'other' } }, { requestState: `${requestState}x` }]) {
      expect((await call(again({ inputResponses, ...change }))).error).toMatchObject({ code: -32602 });
    }
    const answered = call(again({ inputResponses }));
    const resumed = await deployment.worker.take();
    expect(resumed.claimed.kwargs).toMatchObject({ command: { resume: 'yes' }, context: { tone: 'kind' } });
    await resumed.succeed({ done: true });
    expect((await answered).result).toMatchObject({ resultType: 'complete', structuredContent: { done: true } });
    expect((await call(again({ inputResponses }))).error).toMatchObject({ code: -32602 });
  });

  it('with a form is answered by the form, and several are answered one by one', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    const interrupts = [{ id: 'a', value: { key: 'sure', message: 'Sure?', requestedSchema: schema } }, question];
    const first = modernly('tools/call', echo(), FORMS);
    await (await deployment.worker.take()).ask({}, interrupts);
    const asked = await first;
    expect(asked.inputRequests.sure.params).toEqual({ mode: 'form', message: 'Sure?', requestedSchema: schema });
    const again = (requestState: string, inputResponses: object) =>
      modernly('tools/call', { ...echo(), requestState, inputResponses }, FORMS);
    const half = await again(asked.requestState, { sure: accept({ ok: true }) });
    expect(Object.keys(half.inputRequests)).toEqual(['i1']);
    const answered = again(half.requestState, { i1: accept({ answer: 'x' }) });
    const resumed = await deployment.worker.take();
    expect(resumed.claimed.kwargs.command).toMatchObject({ resume: { a: { ok: true }, i1: 'x' } });
    await resumed.succeed({});
    expect(await answered).toMatchObject({ resultType: 'complete' });
  });

  it('that the user declines ends the call', async () => {
    const first = modernly('tools/call', echo(), FORMS);
    await (await deployment.worker.take()).ask({}, [question]);
    const { requestState } = await first;
    const inputResponses = { i1: { action: 'decline' } };
    expect(await modernly('tools/call', { ...echo(), requestState, inputResponses }, FORMS)).toMatchObject({
      isError: true,
    });
  });

  it('needs a client that can ask: others get an error in the new revision, and the interrupt in old ones', async () => {
    const newer = ask(url(), modern('tools/call', echo()));
    await (await deployment.worker.take()).ask({}, [question]);
    expect(await newer).toMatchObject({
      status: 400,
      json: { error: { code: -32021, data: { requiredCapabilities: { elicitation: {} } } } },
    });
    const older = call(legacy('tools/call', echo(), await initialize({})));
    await (await deployment.worker.take()).ask({ at: 1 }, [question]);
    expect((await older).result.structuredContent).toEqual({ at: 1, __interrupt__: [question] });
  });

  it('is asked on the stream of an old client, whose answer may reach any process', async () => {
    const session = await initialize({ elicitation: {} });
    const answer = await open(url(), legacy('tools/call', echo(), session));
    await (await deployment.worker.take()).ask({}, [question]);
    const asked = await message(answer, 'elicitation/create');
    expect(asked.params).toMatchObject({ message: 'Really?' });
    const response = { jsonrpc: '2.0', id: asked.id, result: accept({ answer: 'yes' }) };
    const give = () => ask(`${elsewhere}/mcp`, { body: response, headers: session });
    expect((await give()).status).toBe(202);
    const resumed = await deployment.worker.take();
    expect(resumed.claimed.kwargs.command).toMatchObject({ resume: 'yes' });
    expect((await give()).status).toBe(202);
    await resumed.succeed({ done: true });
    expect(messagesIn(await answer.complete).at(-1)).toMatchObject({ result: { structuredContent: { done: true } } });
  });

  it('whose call an old client cancels is asked no more: the call ends, and a later answer executes nothing', async () => {
    const session = await initialize({ elicitation: {} });
    const request = legacy('tools/call', echo(), session);
    const answer = await open(url(), request);
    const run = await deployment.worker.take();
    await run.ask({}, [question]);
    const asked = await message(answer, 'elicitation/create');
    const { id } = request.body as Json;
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } };
    const cancel = (headers: Headers) => ask(`${elsewhere}/mcp`, { headers, body: cancelled });
    expect((await cancel(await initialize({ elicitation: {} }))).status).toBe(202);
    const taskId = run.claimed.runId;
    const statusOf = async () => (await call(legacy('tasks/get', { taskId }, session))).result.status;
    expect(await statusOf()).toBe('input_required');
    expect((await cancel(session)).status).toBe(202);
    const response = { jsonrpc: '2.0', id: asked.id, result: accept({ answer: 'yes' }) };
    // The thread may be gone with the call.
    expect([202, 400]).toContain((await ask(url(), { body: response, headers: session })).status);
    const { threadId } = run.claimed;
    const runs = await deployment.worker.engine.listRuns({ threadId, limit: 2, offset: 0 });
    expect(runs.filter(({ runId }) => runId !== taskId)).toEqual([]);
    expect(messagesIn(await answer.complete).at(-1)).toMatchObject({ result: { isError: true } });
  });

  it('that the user of an old client cancels ends the call there', async () => {
    const session = await initialize({ elicitation: { form: {} } });
    const answer = await open(url(), legacy('tools/call', echo(), session));
    await (await deployment.worker.take()).ask({}, [question]);
    const asked = await message(answer, 'elicitation/create');
    const refusal = { jsonrpc: '2.0', id: asked.id, result: { action: 'cancel' } };
    expect((await ask(url(), { body: refusal, headers: session })).status).toBe(202);
    expect(messagesIn(await answer.complete).at(-1)).toMatchObject({ result: { isError: true } });
    const stray = { ...refusal, id: `${randomUUID()}/${randomUUID()}/i1` };
    expect((await ask(url(), { body: stray, headers: session })).status).toBe(400);
  });
});

describe('a long call', () => {
  const task = (taskId: string, method = 'tasks/get', more: object = {}) =>
    modernly(method, { taskId, ...more }, { ...TASKS, ...FORMS });

  it('becomes a task in the new revision, which any process shows, with its result at the end', async () => {
    const created = await modernly('tools/call', echo(), TASKS);
    expect(created).toMatchObject({ resultType: 'task', status: 'working', ttlMs: 3_600_000, pollIntervalMs: 1_000 });
    const run = await deployment.worker.take();
    expect(await task(created.taskId)).toMatchObject({ resultType: 'complete', status: 'working' });
    await run.succeed({ done: true });
    expect(await task(created.taskId)).toMatchObject({
      status: 'completed',
      createdAt: created.createdAt,
      result: { resultType: 'complete', structuredContent: { done: true } },
    });
    expect((await call(modern('tasks/get', { taskId: created.taskId }))).error).toMatchObject({ code: -32021 });
    expect((await call(modern('tasks/get', { taskId: randomUUID() }, TASKS))).error).toMatchObject({ code: -32602 });
  });

  it('that is short is answered with its result', async () => {
    const called = modernly('tools/call', echo(), TASKS);
    await (await deployment.worker.take()).succeed({ done: true });
    expect(await called).toMatchObject({ resultType: 'complete' });
  });

  it('that asks takes its answers one by one, and goes on with all of them', async () => {
    const called = modernly('tools/call', echo(), { ...TASKS, ...FORMS });
    await (await deployment.worker.take()).ask({}, [question, { id: 'i2', value: 'And?' }]);
    const { taskId, status } = await called;
    expect(status).toBe('input_required');
    expect(Object.keys((await task(taskId)).inputRequests)).toEqual(['i1', 'i2']);
    const give = (inputResponses: object) => task(taskId, 'tasks/update', { inputResponses });
    const acknowledged = await give({ i1: accept({ answer: 'one' }), none: accept({}) });
    expect(acknowledged).toEqual({ resultType: 'complete', _meta: expect.anything() });
    expect(await task(taskId)).toMatchObject({ status: 'input_required', inputRequests: { i2: {} } });
    await give({ i2: accept({ answer: 'two' }) });
    const resumed = await deployment.worker.take();
    expect(resumed.claimed.kwargs.command).toMatchObject({ resume: { i1: 'one', i2: 'two' } });
    expect(await task(taskId)).toMatchObject({ status: 'working' });
    await resumed.fail({ error: 'Error', message: 'no' });
    expect(await task(taskId)).toMatchObject({ status: 'completed', result: { isError: true } });
  });

  it('is cancelled as often as the client likes, and not by leaving', async () => {
    const { taskId } = await modernly('tools/call', echo(), TASKS);
    const run = await deployment.worker.take();
    await task(taskId, 'tasks/cancel');
    expect(await deployment.worker.order(run)).toMatchObject({ action: 'interrupt' });
    await run.interrupt({});
    expect(await task(taskId)).toMatchObject({ status: 'cancelled' });
    expect(await task(taskId, 'tasks/cancel')).toMatchObject({ resultType: 'complete' });
  });

  it('is a task of an old client that asks for one, which fetches, lists and cancels it', async () => {
    const session = await initialize({});
    const old = async (method: string, params: object) => call(legacy(method, params, session));
    const { result } = await old('tools/call', { ...echo(), task: { ttl: 120_000 } });
    const { taskId } = result.task;
    expect(result.task).toMatchObject({ status: 'working', ttl: 120_000, pollInterval: 1_000 });
    const waiting = old('tasks/result', { taskId });
    await (await deployment.worker.take()).succeed({ done: true });
    expect((await waiting).result).toMatchObject({
      structuredContent: { done: true },
      _meta: { [`${META}/related-task`]: { taskId } },
    });
    expect((await old('tasks/get', { taskId })).result).toMatchObject({ taskId, status: 'completed' });
    expect((await old('tasks/list', {})).result.tasks[0]).toMatchObject({ taskId });
    expect((await old('tasks/cancel', { taskId })).error).toMatchObject({ code: -32602 });
    const failing = (await old('tools/call', { ...echo(), task: {} })).result.task;
    await (await deployment.worker.take()).fail({ error: 'Error', message: 'no' });
    expect((await old('tasks/get', { taskId: failing.taskId })).result).toMatchObject({ status: 'failed' });
    expect((await old('tasks/result', { taskId: failing.taskId })).result).toMatchObject({ isError: true });
  });

  it('asks an old client while it waits for the result', async () => {
    const session = await initialize({ elicitation: {} });
    const { result } = await call(legacy('tools/call', { ...echo(), task: {} }, session));
    const { taskId } = result.task;
    await (await deployment.worker.take()).ask({}, [question]);
    await waitFor(
      async () => (await call(legacy('tasks/get', { taskId }, session))).result.status === 'input_required',
      {
        what: 'the question',
      },
    );
    const answer = await open(url(), legacy('tasks/result', { taskId }, session));
    const asked = await message(answer, 'elicitation/create');
    expect(asked.params._meta).toEqual({ [`${META}/related-task`]: { taskId } });
    await ask(url(), { body: { jsonrpc: '2.0', id: asked.id, result: accept({ answer: 'yes' }) }, headers: session });
    await (await deployment.worker.take()).succeed({ done: true });
    expect(messagesIn(await answer.complete).at(-1)).toMatchObject({ result: { structuredContent: { done: true } } });
  });

  it('whose assistant says so is always a task, or never one', async () => {
    const create = (name: string, task_support: string) =>
      deployment.client.assistants.create({ graphId: 'echo', name, metadata: { mcp: { task_support } } });
    const mark = randomUUID().slice(0, 8);
    await create(`${mark}-always`, 'required');
    await create(`${mark}-never`, 'forbidden');
    const always = { name: `${mark}-always`, arguments: { messages: 'hi' } };
    expect(await ask(url(), modern('tools/call', always))).toMatchObject({
      status: 400,
      json: { error: { code: -32021 } },
    });
    expect((await call(legacy('tools/call', always))).error).toMatchObject({ code: -32601 });
    const { taskId } = await modernly('tools/call', always, TASKS);
    await (await deployment.worker.take()).succeed({ done: true });
    expect(await task(taskId)).toMatchObject({ status: 'completed' });
    const never = { ...always, name: `${mark}-never` };
    expect((await call(legacy('tools/call', { ...never, task: {} }))).error).toMatchObject({ code: -32601 });
  });
});
