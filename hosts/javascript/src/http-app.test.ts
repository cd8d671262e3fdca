import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestOptions, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { json, text } from 'node:stream/consumers';
import { type LoopbackServer, openLoopback, SocketFolder } from '@runyard/host-client';
import { decodeUser, encodeUser, GraphLoadError, type ServedApp } from '@runyard/host-protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { executionRequest, fixtures, type HostUnderTest, runToEnd, startHost } from '../test/host-under-test.ts';

const source = (symbol: string) => ({ file: `${fixtures}basic/http-app.ts`, symbol });

/** The requests that reached the server's own routes. */
const asked: {
  method: string;
  url: string;
  body: string;
  exchange: unknown;
  depth: unknown;
  trace: unknown;
  run: unknown;
  user: unknown;
}[] = [];
/** The server redirects `/elsewhere` to this address. */
let elsewhere = '';
let folder: SocketFolder;
let loopback: LoopbackServer;
let host: HostUnderTest;
let served: ServedApp;
let socketPath: string;

beforeAll(async () => {
  folder = await SocketFolder.open();
  loopback = await openLoopback(folder, async (req, res) => {
    const body = await text(req);
    const { 'x-runyard-exchange': exchange, 'x-runyard-depth': depth, 'x-runyard-loopback': token } = req.headers;
    expect(token).toBeUndefined();
    const { traceparent: trace, 'x-runyard-run': run, 'x-runyard-user': encoded } = req.headers;
    const user = typeof encoded === 'string' ? decodeUser(encoded).identity : undefined;
    asked.push({ method: req.method!, url: req.url!, body, exchange, depth, trace, run, user });
    if (req.url === '/elsewhere') {
      res.writeHead(307, { location: elsewhere }).end();
      return;
    }
    res.writeHead(201, { 'content-type': 'application/json', location: '/threads/1' });
    res.end(JSON.stringify({ builtIn: true, body }));
  });
  socketPath = folder.pathForHost();
  host = await startHost('basic', {
    loopback,
    publicUrl: 'https://example.com/deployments/7',
  });
  served = await host.serveApp(source('app'), socketPath);
});
afterAll(async () => {
  await host.close();
  await loopback.close();
  await folder.remove();
});

async function call(path: string, options: RequestOptions = {}, body?: string | Buffer): Promise<IncomingMessage> {
  const headers = { host: 'example.com', 'x-runyard-exchange': 'exchange-1', ...options.headers };
  const sent = request({ socketPath, path, ...options, headers });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

it('an app answers its routes, shadowed ones too, with what its middleware adds', async () => {
  const shadowed = await call('/threads/shadowed');
  expect(await json(shadowed)).toEqual({ shadowed: true });
  expect(shadowed.headers['x-middleware']).toBe('seen');
  expect(await text(await call('/custom/stream'))).toBe('line 0\nline 1\nline 2\n');
  expect(served.paths).toContain('/custom/stream');
});

it('an app passes a request that it does not answer to the server, and its middleware sees the answer', async () => {
  asked.length = 0;
  const response = await call('/assistants/search?a=1', { method: 'POST' }, '{"limit":1}');
  expect(response.statusCode).toBe(201);
  expect(response.headers).toMatchObject({ location: '/threads/1', 'x-middleware': 'seen' });
  expect(await json(response)).toEqual({ builtIn: true, body: '{"limit":1}' });
  expect(asked).toEqual([
    { method: 'POST', url: '/assistants/search?a=1', body: '{"limit":1}', exchange: 'exchange-1', depth: '0' },
  ]);
});

it('middleware can answer instead of the server, and change the body of a request', async () => {
  asked.length = 0;
  expect(await json(await call('/threads?interrupt', { method: 'POST' }, '{}'))).toEqual({ interrupted: true });
  expect(asked).toEqual([]);
  await json(await call('/threads', { method: 'POST' }, '{"a":1}'));
  expect(JSON.parse(asked[0]!.body)).toEqual({ a: 1, metadata: { changed: true } });
});

it('middleware can change a parsed body, and a body that is not JSON is passed on as it came', async () => {
  asked.length = 0;
  const changed = { method: 'POST', headers: { 'x-tone': 'kind' } };
  await json(await call('/runs/wait', changed, '{"input":{"a":1}}'));
  await json(await call('/runs/wait', changed, '{"input":'));
  expect(JSON.parse(asked[0]!.body)).toEqual({ input: { a: 1 }, config: { configurable: { tone: 'kind' } } });
  expect(asked[1]!.body).toBe('{"input":');
  const body = '{ "as": "sent" }';
  expect(await json(await call('/custom/body', { method: 'POST' }, body))).toEqual([{ as: 'sent' }, body]);
});

it('an app answers errors as JSON without their text, and an HTTPException as it is', async () => {
  const logged = host.nextLog(({ level, message }) => level === 'error' && message.includes('secret detail'));
  const failed = await call('/custom/error');
  expect([failed.statusCode, await json(failed)]).toEqual([500, { detail: 'Internal Server Error' }]);
  await logged;
  const refused = await call('/custom/refused');
  expect([refused.statusCode, await json(refused)]).toEqual([418, { detail: 'no tea' }]);
  const missing = await call('/custom/missing');
  expect([missing.statusCode, await json(missing)]).toEqual([404, { detail: 'Not Found' }]);
});

it('code calls its own server with its own rights, and internal headers are removed', async () => {
  asked.length = 0;
  expect(await json(await call('/custom/own'))).toEqual({ builtIn: true, body: '{"own":1}' });
  expect(asked).toEqual([{ method: 'POST', url: '/threads', body: '{"own":1}', exchange: undefined, depth: '1' }]);
  const seen = await json(await call('/custom/headers', { headers: { 'x-mine': 'yes' } }));
  expect(seen).toEqual({ host: 'example.com', connection: expect.any(String), 'x-mine': 'yes' });
  await expect(json(await call('/custom/own', { headers: { 'x-runyard-depth': '10' } }))).resolves.toEqual({
    detail: 'Internal Server Error',
  });
});

it('a route finds the user of a request, and the scopes of the user', async () => {
  const user = { identity: 'ada', display_name: 'Ada', is_authenticated: true, permissions: ['read'], team: 'blue' };
  const headers = { 'x-runyard-user': encodeUser(user) };
  expect(await json(await call('/custom/auth', { headers }))).toEqual({ user, scopes: ['read'] });
  expect(await json(await call('/custom/headers', { headers }))).not.toHaveProperty('x-runyard-user');
  expect(await json(await call('/custom/auth'))).toBeNull();
});

it('code knows the address of its own server, and requests to it take the loopback', async () => {
  asked.length = 0;
  expect(await json(await call('/custom/client'))).toMatchObject({ builtIn: true });
  expect(await json(await call('/custom/by-address'))).toMatchObject({ builtIn: true });
  expect(asked.map(({ method, url }) => [method, url])).toEqual([
    ['GET', '/threads/1'],
    ['GET', '/threads/2'],
  ]);
});

it('what a run asks its own server for belongs to the trace of the run', async () => {
  asked.length = 0;
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const traced = executionRequest('metered', { input: { ask: 'server' }, traceparent });
  expect((await runToEnd(host, traced)).outcome.kind).toBe('done');
  expect(asked.map(({ url, trace }) => [url, trace])).toEqual([['/threads/3', traceparent]]);
});

const runFor = (identity: string | undefined, what: string) =>
  executionRequest('probe', {
    input: { do: what },
    config: { configurable: { ...(identity && { langgraph_auth_user: { identity } }) } },
  });

it("a run asks its own server by PORT and LANGGRAPH_API_URL, without a key and as the run's user", async () => {
  asked.length = 0;
  const requests = ['ada', 'bob', undefined].map((name) => runFor(name, 'ask the own server'));
  const runs = await Promise.all(requests.map((each) => runToEnd(host, each)));
  for (const [index, user] of ['ada', 'bob', undefined].entries()) {
    const { url, port, answers } = runs[index]!.values!.seen as { url: string; port: string; answers: unknown[] };
    expect(url).toBe(`http://127.0.0.1:${port}`);
    const answer = { builtIn: true, body: '{"a":1}' };
    expect(answers).toEqual([answer, answer, answer]);
    const run = requests[index]!.runId;
    const sent = { method: 'POST', body: '{"a":1}', depth: '1', run, user };
    expect(asked.filter((each) => each.run === run)).toEqual(
      ['/threads', '/threads/search', '/runs/stream'].map((path) => ({ url: path, ...sent })),
    );
  }
});

it("a route asks its own server by its address as the request's user", async () => {
  asked.length = 0;
  const user = { identity: 'ada', display_name: 'Ada', is_authenticated: true, permissions: [] };
  await json(await call('/custom/by-variable', { headers: { 'x-runyard-user': encodeUser(user) } }));
  expect(asked).toEqual([{ method: 'GET', url: '/threads/4', body: '', depth: '1', user: 'ada' }]);
});

it('other processes are refused at the own address of a project, whatever they send', async () => {
  const { values } = await runToEnd(host, runFor('ada', 'ask the own server'));
  const { port } = values!.seen as { port: string };
  asked.length = 0;
  const hasIPv6 = networkInterfaces().lo?.some(({ address }) => address === '::1');
  for (const at of ['127.0.0.1', 'localhost', ...(hasIPv6 ? ['[::1]'] : [])]) {
    for (const sender of [undefined, '0']) {
      const headers = { 'x-runyard-user': 'e30', 'x-api-key': 'any', ...(sender && { 'x-runyard-sender': sender }) };
      const response = await fetch(`http://${at}:${port}/threads`, { method: 'POST', headers, body: '{}' });
      expect([response.status, await response.json()]).toEqual([403, { detail: expect.stringContaining('own code') }]);
    }
  }
  expect(asked).toEqual([]);
});

it('a redirect to another server gives it no way to the own address', async () => {
  const stranger = createServer(async (req, res) => {
    const { 'x-runyard-sender': sender, host: _host, connection: _connection, ...headers } = req.headers;
    const { values } = await runToEnd(host, runFor(undefined, 'ask the own server'));
    const { url } = values!.seen as { url: string };
    const tried = await fetch(`${url}/threads`, {
      headers: { ...(headers as object), 'x-runyard-sender': String(sender) },
    });
    res.end(JSON.stringify({ sender, status: tried.status }));
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  elsewhere = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`;
  const { values } = await runToEnd(host, runFor('ada', 'follow elsewhere'));
  expect(values!.seen).toEqual({ sender: expect.any(String), status: 403 });
  stranger.close();
});

it('an app streams large bodies, and notices when the client disconnects', async () => {
  const body = Buffer.alloc(8 * 1024 * 1024);
  expect(await json(await call('/custom/size', { method: 'POST' }, body))).toEqual({ size: body.byteLength });
  const endless = await call('/custom/endless');
  await once(endless, 'data');
  const left = host.nextLog((line) => line.message === 'the client has left');
  endless.destroy();
  await left;
});

it('a host returns the routes that an app describes', async () => {
  const { paths, routes, openApi } = await host.serveApp(source('described'), folder.pathForHost());
  expect(paths).toEqual(['/described']);
  expect(routes).toEqual([{ method: 'GET', path: '/described' }]);
  expect(openApi).toMatchObject({ openapi: '3.1.0', paths: { '/described': { get: { summary: 'Described' } } } });
  expect(served.openApi).toBeNull();
});

it('a host says why an app cannot be served', async () => {
  await expect(host.serveApp(source('notAnApp'), folder.pathForHost())).rejects.toThrow(
    new GraphLoadError(
      'The export "notAnApp" that "http.app" names is no Hono, Express or Fastify app, and no fetch handler.',
    ),
  );
  await expect(host.serveApp(source('absent'), folder.pathForHost())).rejects.toThrow(/has no export named "absent"/);
});

it('the loopback refuses a request without the token', async () => {
  const sent = request({ socketPath: loopback.socketPath, path: '/threads', headers: { 'x-runyard-loopback': 'x' } });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(403);
  response.resume();
});
