import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GuardedDeployment, shareGuardedDeployment, userHeaders } from './guarded-deployment.ts';
import { ask } from './raw-http.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of the protocol are looked into at many places.
type Json = any;
type Headers = Record<string, string>;

const ADA = userHeaders('ada');
const BOB = userHeaders('bob');
const META = 'io.modelcontextprotocol';
const CAPABILITIES = { elicitation: {}, extensions: { [`${META}/tasks`]: {} } };
const ANSWER = { action: 'accept', content: { answer: 'yes' } };

let deployment: GuardedDeployment;
beforeAll(async () => {
  deployment = await shareGuardedDeployment();
});
afterAll(() => deployment?.close());

const url = () => `${deployment.url}/mcp`;

async function call(who: Headers, method: string, params: Json = {}, capabilities: object = {}) {
  const version = '2026-07-28';
  const _meta = { [`${META}/protocolVersion`]: version, [`${META}/clientCapabilities`]: capabilities };
  const name = params.name ?? params.taskId;
  const headers = { 'mcp-protocol-version': version, 'mcp-method': method, ...(name && { 'mcp-name': name }), ...who };
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } };
  const { status, json } = await ask(url(), { body, headers });
  return { status, ...(json as Json) };
}

/** Makes a tool of Ada's, and returns its name. */
async function makeTool(): Promise<string> {
  const name = `ada-${randomUUID()}`;
  const body = { graph_id: 'echo', name };
  expect((await ask(`${deployment.url}/assistants`, { body, headers: ADA })).status).toBe(200);
  return name;
}
const names = ({ result }: Json): string[] => result.tools.map(({ name }: Json) => name);

it('a tool, and what its calls are, belong to their user and are missing for everybody else', async () => {
  const name = await makeTool();
  expect(names(await call(ADA, 'tools/list'))).toEqual(expect.arrayContaining(['echo', name]));
  expect(names(await call(BOB, 'tools/list'))).not.toContain(name);
  const missing = { error: { code: -32602 } };
  expect(await call(BOB, 'tools/call', { name })).toMatchObject(missing);

  const { result } = await call(ADA, 'tools/call', { name }, CAPABILITIES);
  const { taskId } = result;
  const run = await deployment.worker.take();
  expect(run.claimed.kwargs).toMatchObject({ config: { configurable: { user_id: 'ada' } } });
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
    const params = { taskId, inputResponses: { i1: ANSWER } };
    expect(await call(BOB, method, params, CAPABILITIES)).toMatchObject(missing);
  }
  await run.ask({}, [{ id: 'i1', value: 'Really?' }]);
  await call(BOB, 'tasks/update', { taskId, inputResponses: { i1: ANSWER } }, CAPABILITIES);
  const question = `${taskId}/${run.claimed.runId}/i1`;
  expect((await ask(url(), { body: { jsonrpc: '2.0', id: question, result: ANSWER }, headers: BOB })).status).toBe(400);
  expect(await call(ADA, 'tasks/get', { taskId }, CAPABILITIES)).toMatchObject({
    result: { status: 'input_required' },
  });
  const list = async (headers: Headers) =>
    (await ask(url(), { body: { jsonrpc: '2.0', id: 1, method: 'tasks/list' }, headers })).json as Json;
  expect((await list(BOB)).result.tasks).toEqual([]);
  expect((await list(ADA)).result.tasks).toMatchObject([{ taskId }]);
});

it('the state of a call that asks is of the user to whom it was given', async () => {
  const forms = { elicitation: {} };
  const params = { name: 'echo', arguments: { messages: 'hi' } };
  const asking = call(ADA, 'tools/call', params, forms);
  await (await deployment.worker.take()).ask({}, [{ id: 'i1', value: 'Really?' }]);
  const { requestState } = (await asking).result;
  const again = { ...params, requestState, inputResponses: { i1: ANSWER } };
  expect(await call(BOB, 'tools/call', again, forms)).toMatchObject({ error: { code: -32602 } });
  const answered = call(ADA, 'tools/call', again, forms);
  await (await deployment.worker.take()).succeed({ done: true });
  expect((await answered).result).toMatchObject({ structuredContent: { done: true } });
});

it("the project's handlers decide about each step, as about the operations of the HTTP API with the same effect", async () => {
  const denied = (event: string): Headers => ({ ...ADA, 'x-act': 'deny', 'x-on': event });
  const echo = { name: 'echo', arguments: { messages: 'hi' } };
  const { result } = await call(ADA, 'tools/call', echo, CAPABILITIES);
  const { taskId } = result;
  for (const [event, method, params] of [
    ['assistants:search', 'tools/list', {}],
    ['assistants:read', 'tools/call', echo],
    ['threads:create_run', 'tools/call', echo],
    ['threads:read', 'tasks/get', { taskId }],
    ['threads:create_run', 'tasks/update', { taskId, inputResponses: {} }],
    ['threads:update', 'tasks/cancel', { taskId }],
  ] as const) {
    const { status, detail, error } = await call(denied(event), method, params, CAPABILITIES);
    expect([event, status, detail, error]).toMatchObject([event, 403, 'Forbidden', { code: -32600 }]);
  }
});

it('callers of the platform need the permission of what they do', async () => {
  const reader = await deployment.platformToken(['runs:read']);
  expect((await call(reader, 'tools/list')).status).toBe(200);
  expect(await call(reader, 'tools/call', { name: 'echo' })).toMatchObject({ status: 403 });
});
