import { on, once } from 'node:events';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { type LoopbackServer, openLoopback, SocketFolder } from '@runyard/host-client';
import { encodeUser, type ServedApp, UNKNOWN_USER } from '@runyard/host-protocol';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { fixtures, type HostUnderTest, startHost } from '../test/host-under-test.ts';

const USER = { identity: 'ädä', display_name: 'Ada', is_authenticated: true, permissions: ['read'], team: '蓝' };
const source = (file: string, symbol = 'app') => ({ file: `${fixtures}basic/${file}.ts`, symbol });

/** The requests that reached the server's own routes. */
const asked: { method: string; url: string; body: string; type: unknown }[] = [];
/** For whom, and how deep, the project's code called its own server, by path. */
const callers = new Map<string, { user: unknown; depth: unknown }>();
let folder: SocketFolder;
let loopback: LoopbackServer;
let host: HostUnderTest;
beforeAll(async () => {
  folder = await SocketFolder.open();
  loopback = await openLoopback(folder, async (req, res) => {
    const body = await text(req);
    const { 'x-runyard-user': user, 'x-runyard-depth': depth } = req.headers;
    callers.set(req.url!, { user, depth });
    asked.push({ method: req.method!, url: req.url!, body, type: req.headers['content-type'] });
    res.writeHead(201, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] });
    res.end(JSON.stringify({ builtIn: true, size: body.length }));
  });
  host = await startHost('basic', { loopback });
});
afterAll(async () => {
  await host.close();
  await loopback.close();
  await folder.remove();
});
beforeEach(() => {
  asked.length = 0;
});

describe.each([
  { name: 'an Express app', app: source('express-app'), seesAnswers: true, hasWebSockets: true },
  { name: 'a Fastify instance', app: source('fastify-app'), seesAnswers: true, hasWebSockets: true },
  { name: 'a fetch handler', app: source('fetch-app'), seesAnswers: false, hasWebSockets: false },
  {
    name: 'an object with a fetch handler',
    app: source('fetch-app', 'handler'),
    seesAnswers: false,
    hasWebSockets: false,
  },
])('$name', ({ app, seesAnswers, hasWebSockets }) => {
  let socketPath: string;
  let served: ServedApp;
  beforeAll(async () => {
    socketPath = folder.pathForHost();
    served = await host.serveApp(app, socketPath);
  });
  const call = async (path: string, options: RequestOptions = {}, body?: string | Buffer): Promise<IncomingMessage> => {
    const headers = { host: 'example.com', 'x-runyard-exchange': 'exchange-1', ...options.headers };
    const sent = request({ socketPath, path, ...options, headers });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  };
  const post = (path: string, body: string | Buffer, type = 'application/json') =>
    call(path, { method: 'POST', headers: { 'content-type': type, 'content-length': body.length } }, body);

  it('answers its routes, shadowed ones too, and lets its middleware answer instead of the server', async () => {
    const shadowed = await call('/threads/shadowed');
    expect(shadowed.headers['x-middleware']).toBe('seen');
    expect(await json(shadowed)).toEqual({ shadowed: true });
    expect(await json(await call('/threads/1?interrupt'))).toEqual({ interrupted: true });
    expect(asked).toEqual([]);
  });

  it('passes on what it does not answer, with the server’s answer seen by its middleware', async () => {
    const response = await post('/assistants/search?a=1', '{"limit":1}');
    expect(response.statusCode).toBe(201);
    expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    if (seesAnswers) expect(response.headers['x-middleware']).toBe('seen');
    expect(await json(response)).toMatchObject({ builtIn: true });
    await json(await call('//other.example/threads', { method: 'DELETE' }));
    expect(asked).toMatchObject([
      { method: 'POST', url: '/assistants/search?a=1', body: '{"limit":1}', type: 'application/json' },
      { method: 'DELETE', url: '//other.example/threads', body: '' },
    ]);
  });

  it('may change the body of a request that goes on', async () => {
    await json(await post('/threads', '{"a":1}'));
    expect(JSON.parse(asked[0]!.body)).toEqual({ a: 1, metadata: { changed: true } });
  });

  it('leaves large bodies and other types to the server', async () => {
    const size = 4 * 1024 * 1024;
    expect(await json(await post('/runs/batch', Buffer.alloc(size, 'x'), 'text/x-other'))).toMatchObject({ size });
  });

  it('hides the text of errors, whatever status they have, and writes it to the log', async () => {
    const logged = host.nextLog(({ level, message }) => level === 'error' && message.includes('secret detail'));
    const failed = await call('/custom/error');
    expect([failed.statusCode, await json(failed)]).toEqual([500, { detail: 'Internal Server Error' }]);
    await logged;
  });

  it('finds the user of a request beside it, and never in its headers', async () => {
    const known = await call('/custom/auth', { headers: { 'x-runyard-user': encodeUser(USER) } });
    expect(await json(known)).toEqual({ user: USER, scopes: ['read'] });
    expect(await json(await call('/custom/auth'))).toBeNull();
  });

  it('notices when a client leaves', async () => {
    const endless = await call('/custom/left');
    await once(endless, 'data');
    const left = host.nextLog(({ message }) => message === 'the client has left');
    endless.destroy();
    await left;
  });

  it('says whether it answers websockets, which see no header of the platform', async () => {
    expect(served.hasWebSockets).toBe(hasWebSockets);
    if (!hasWebSockets) return;
    const internal = { 'x-runyard-exchange': 'e', 'x-runyard-depth': '1', 'x-runyard-user': encodeUser(USER) };
    const headers = { 'x-mine': 'yes', ...internal };
    const socket = new WebSocket(`ws+unix:${socketPath}:/chat`, { headers });
    const messages = on(socket, 'message');
    const next = async () => String((await messages.next()).value[0]);
    const seen = await next();
    expect(JSON.parse(seen)).toMatchObject({ 'x-mine': 'yes' });
    expect(seen).not.toContain('x-runyard-');
    expect(JSON.parse(await next())).toEqual({ user: USER, scopes: ['read'] });
    socket.send('hello');
    expect(await next()).toBe('echo: hello');
    socket.terminate();
  });
});

it("what Express code calls of its own server is the request's, in a listener and in a websocket, or nobody's", async () => {
  const socketPath = folder.pathForHost();
  await host.serveApp(source('express-app'), socketPath);
  const headers = { 'x-runyard-exchange': 'e', 'x-runyard-depth': '2', 'x-runyard-user': encodeUser(USER) };
  const sent = request({ socketPath, path: '/custom/end', method: 'POST', headers });
  // The end comes apart from the beginning.
  sent.write('{"a":');
  setImmediate(() => sent.end('1}'));
  await once(sent, 'response');
  const socket = new WebSocket(`ws+unix:${socketPath}:/chat`, { headers });
  const messages = on(socket, 'message');
  await once(socket, 'open');
  socket.send('ask');
  while (String((await messages.next()).value[0]) !== 'echo: ask');
  socket.terminate();
  const caller = { user: encodeUser(USER), depth: '3' };
  expect([callers.get('/of-an-end'), callers.get('/of-a-socket')]).toEqual([caller, caller]);
  await waitFor(() => callers.has('/of-a-module'), { what: 'the call of the module' });
  expect(callers.get('/of-a-module')).toEqual({ user: UNKNOWN_USER, depth: '1' });
});

it('a Fastify instance that answers every path itself is refused with what to change', async () => {
  await expect(host.serveApp(source('fastify-app', 'withHandler'), folder.pathForHost())).rejects.toThrow(
    /has a not-found handler, or was made ready/,
  );
});

it('middleware of Express that eats a body fails the request instead of passing on nothing', async () => {
  const socketPath = folder.pathForHost();
  await host.serveApp(source('express-app'), socketPath);
  const sent = request({ socketPath, path: '/eaten', method: 'POST', headers: { 'x-runyard-exchange': 'e' } });
  const logged = host.nextLog(({ message }) => message.includes('without leaving it at `body`'));
  sent.end('{"a":1}');
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  expect([response.statusCode, await json(response)]).toEqual([500, { detail: 'Internal Server Error' }]);
  await logged;
  expect(asked).toEqual([]);
});
