import { EventEmitter, once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { defineOperation, INTERNAL_AUTHORIZATION_SCHEME } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import Type from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConflictError, UnavailableError } from '../errors.ts';
import type { ServiceLifecycle } from '../lifecycle.ts';
import { allowAll } from '../principal.ts';
import { createContext, type ServiceContext } from '../service.ts';
import { type AppOptions, createApp } from './app.ts';
import { bind, type HandlerRequest } from './bind.ts';
import { ANY_ORIGIN } from './cors.ts';
import { listen } from './listen.ts';
import { page } from './page.ts';
import { created, noContent, ok } from './reply.ts';

const getThread = defineOperation({
  operationId: 'getThread',
  method: 'get',
  path: '/threads/{thread_id}',
  summary: 'A thread.',
  tags: ['threads'],
  access: 'public',
  params: Type.Object({ thread_id: Type.String({ format: 'uuid' }) }),
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
    select: Type.Optional(Type.Array(Type.String())),
  }),
  responses: { 200: { description: 'It.' } },
});
const createThread = defineOperation({
  operationId: 'createThread',
  method: 'post',
  path: '/threads',
  summary: 'A new thread.',
  tags: ['threads'],
  access: 'principal',
  permission: 'any key',
  body: Type.Object({ name: Type.String(), size: Type.Optional(Type.Integer()) }),
  responses: { 201: { description: 'Made.' } },
});
const optional = defineOperation({
  operationId: 'optional',
  method: 'post',
  path: '/optional',
  summary: 'A body may be left out.',
  tags: ['threads'],
  access: 'public',
  body: Type.Object({ name: Type.Optional(Type.String()) }),
  bodyOptional: true,
  responses: { 200: { description: 'Done.' } },
});
const sendForm = defineOperation({
  operationId: 'sendForm',
  method: 'post',
  path: '/form',
  summary: 'A form.',
  tags: ['threads'],
  access: 'public',
  bodyType: 'application/x-www-form-urlencoded',
  body: Type.Object({ name: Type.Optional(Type.String()), colours: Type.Optional(Type.Array(Type.String())) }),
  responses: { 200: { description: 'A page.', contentType: 'text/html', schema: Type.String() } },
});
const internal = defineOperation({
  operationId: 'internal',
  method: 'delete',
  path: '/internal/things',
  summary: 'For our own.',
  tags: ['internal'],
  access: 'internal',
  responses: { 204: { description: 'Done.' } },
});
const threadId = '046b5dc7-2108-582c-9c6c-31d556d138f0';

describe('an app', () => {
  let context: ServiceContext & { lifecycle: ServiceLifecycle };
  let url: string;
  let onGet: (req: HandlerRequest) => ReturnType<Parameters<typeof bind>[1]>;

  async function start(options: Partial<AppOptions> = {}, { drainMs = 3_600_000 } = {}): Promise<void> {
    const app = createApp({
      context,
      operations: [
        bind(getThread, (req) => onGet(req)),
        bind(createThread, ({ body, caller }) => created({ body, caller: caller.identity })),
        bind(optional, ({ body }) => ok(body)),
        bind(internal, () => noContent()),
        bind(sendForm, ({ body }) =>
          page({ html: JSON.stringify(body), style: '' }, { headers: { 'set-cookie': ['a=1', 'b=2'] } }),
        ),
      ],
      principal: allowAll(),
      internalToken: 'the-internal-token',
      bodyLimitBytes: 1000,
      ...options,
    });
    ({ url } = await listen(app, { host: '127.0.0.1', port: 0, context, drainMs }));
    context.lifecycle.ready();
  }
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  const post = (path: string, body?: string) => call(path, { method: 'POST', ...(body === undefined ? {} : { body }) });

  beforeEach(async () => {
    context = createContext('test', { LOG_LEVEL: 'silent', processMetrics: false });
    onGet = ({ params, query }) => ok({ params, query });
  });
  afterEach(() => context.lifecycle.stop('the test is over'));

  it('answers other services of the platform while strangers hold all places', async () => {
    context = createContext('test', {
      LOG_LEVEL: 'silent',
      processMetrics: false,
      HTTP_MAX_REQUESTS_IN_FLIGHT: 1,
    });
    const asked = new EventEmitter();
    onGet = () => {
      asked.emit('asked');
      return new Promise((resolve) => asked.once('done', () => resolve(noContent())));
    };
    await start();
    const [held] = [call(`/threads/${threadId}`), await once(asked, 'asked')];
    expect((await call(`/threads/${threadId}`)).status).toBe(503);
    const authorization = `${INTERNAL_AUTHORIZATION_SCHEME} the-internal-token`;
    expect((await call(internal.path, { method: internal.method, headers: { authorization } })).status).toBe(204);
    const forged = { authorization: `${INTERNAL_AUTHORIZATION_SCHEME} another` };
    expect((await call(internal.path, { method: internal.method, headers: forged })).status).toBe(503);
    asked.emit('done');
    await held;
  });

  it('passes a handler what the contract describes', async () => {
    await start();
    expect((await call(`/threads/${threadId}?limit=2&select=a&select=b&other=x`)).body).toEqual({
      params: { thread_id: threadId },
      query: { limit: 2, select: ['a', 'b'] },
    });
    expect(await post('/threads', '{"name":"n","unknown":1}')).toMatchObject({
      status: 201,
      body: { body: { name: 'n' }, caller: 'local' },
    });
  });

  /** Sends a target as it is, which `fetch` would encode; returns the status of the answer. */
  const statusOf = async (target: string): Promise<number | undefined> => {
    const { hostname, port } = new URL(url);
    const req = request({ hostname, port, path: target }).end();
    const [response] = (await once(req, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };

  it.each(['#', '#?limit=1', '\\'])('refuses a path that some would read as another: one with %j', async (end) => {
    await start();
    expect(await statusOf(`/threads/${threadId}${end}`)).toBe(400);
  });

  it('serves a target in absolute form as the path in it', async () => {
    await start();
    expect(await statusOf(`http://other.example/threads/${threadId}?limit=2`)).toBe(200);
    expect(await statusOf('http://other.example')).toBe(404);
  });

  it('reads JSON with any content type', async () => {
    await start();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await call('/threads', { method: 'POST', body: '{"name":"n"}', headers })).status).toBe(201);
  });

  it('reads the fields of a form, and answers with a page that may do nothing but be read', async () => {
    await start();
    const send = (body: string) => call('/form', { method: 'POST', body });
    const { headers, body } = await send('name=Ada+L%26&colours=red&colours=blue');
    expect(body).toEqual({ name: 'Ada L&', colours: ['red', 'blue'] });
    expect(headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-.*frame-ancestors 'none'$/,
      ),
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(headers.get('content-security-policy')).not.toContain('script-src');
    expect(await send('')).toMatchObject({ status: 200, body: {} });
    expect((await send('name=a&name=b')).status).toBe(422);
  });

  it('explains in words what is wrong with a request', async () => {
    await start();
    const detail = async (answer: Promise<{ status: number; body: unknown }>) => {
      const { status, body } = await answer;
      return [status, (body as { detail: string }).detail];
    };
    expect(await detail(call('/threads/x'))).toEqual([422, 'Invalid thread ID: must be a UUID']);
    expect(await detail(call(`/threads/${threadId}?limit=0`))).toEqual([
      422,
      'Query parameter limit must be at least 1',
    ]);
    expect(await detail(post('/threads', '{'))).toEqual([422, 'Invalid JSON in request body']);
    expect(await detail(post('/threads'))).toEqual([422, 'Invalid JSON in request body']);
    expect(await detail(post('/threads', '[1]'))).toEqual([422, 'Request body must be an object']);
    expect(await detail(post('/threads', '{"size":"x"}'))).toEqual([422, 'name is required']);
    expect(await detail(post('/threads', '{"name":"n","size":"x"}'))).toEqual([422, 'size must be an integer']);
  });

  it('lists the faults of a request, where clients expect that', async () => {
    await start({ validationErrors: 'list' });
    expect((await post('/threads', '{"size":"x"}')).body).toEqual({
      detail: [
        { loc: ['body', 'name'], msg: 'Field required', type: 'missing' },
        { loc: ['body', 'size'], msg: 'Value must be an integer', type: 'type_error' },
      ],
    });
    expect((await post('/threads')).body.detail).toMatchObject([{ loc: ['body'], type: 'missing' }]);
    expect((await post('/threads', '{')).body.detail).toMatchObject([{ loc: ['body'], type: 'json_invalid' }]);
    expect((await call('/threads/x')).body.detail).toMatchObject([{ loc: ['path', 'thread_id'] }]);
  });

  it('accepts a missing body where the contract does', async () => {
    await start();
    for (const body of [undefined, 'null', '{}'])
      expect(await post('/optional', body)).toMatchObject({ status: 200, body: {} });
  });

  it('answers known errors with their status, headers and fields', async () => {
    await start();
    onGet = () => {
      throw new ConflictError('Thread is busy', {
        code: 'thread_busy',
        internal: { secret: 1 },
        body: { thread_id: 'T' },
      });
    };
    expect(await call(`/threads/${threadId}`)).toMatchObject({
      status: 409,
      body: { detail: 'Thread is busy', thread_id: 'T' },
    });
    onGet = async () => {
      throw new UnavailableError('later', { code: 'service_not_ready', retryAfterSeconds: 1.2 });
    };
    expect((await call(`/threads/${threadId}`)).headers.get('retry-after')).toBe('2');
  });

  it('answers unexpected errors with a plain 500', async () => {
    await start();
    onGet = () => {
      throw new Error('postgres://user:pw@host/db is gone');
    };
    expect(await call(`/threads/${threadId}`)).toMatchObject({
      status: 500,
      body: { detail: 'Internal Server Error' },
    });
  });

  it('cuts the connection when a stream fails after its headers', async () => {
    await start();
    onGet = async ({ res }) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('event: a\n\n');
      throw new Error('failed in the middle');
    };
    const response = await fetch(`${url}/threads/${threadId}`);
    await expect(response.text()).rejects.toThrow();
  });

  it('lets a handler take over the response, and tells it when the client has disconnected', async () => {
    await start();
    let aborted!: Promise<unknown>;
    onGet = async ({ res, signal }) => {
      aborted = once(signal, 'abort');
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    };
    const abort = new AbortController();
    await fetch(`${url}/threads/${threadId}`, { signal: abort.signal });
    abort.abort();
    await aborted;
  });

  it('answers 404, 405 and HEAD', async () => {
    await start();
    expect(await call('/nope')).toMatchObject({ status: 404, body: { detail: 'Not Found' } });
    expect(await call('/ok/')).toMatchObject({ status: 404 });
    const wrong = await call('/threads', { method: 'DELETE' });
    expect(wrong).toMatchObject({ status: 405, body: { detail: 'Method Not Allowed' } });
    expect(wrong.headers.get('allow')).toBe('POST');
    expect(await call('/ok', { method: 'HEAD' })).toMatchObject({ status: 200, body: undefined });
  });

  it('refuses a body over the limit, announced or chunked', async () => {
    await start();
    const refusal = { status: 413, body: { detail: 'Request body is larger than 1000 bytes' } };
    expect(await post('/threads', JSON.stringify({ name: 'n'.repeat(1000) }))).toMatchObject(refusal);
    const req = request(`${url}/threads`, { method: 'POST' });
    req.on('error', () => {});
    const answered = once(req, 'response') as Promise<[IncomingMessage]>;
    for (let sent = 0; sent < 3; sent += 1) req.write('x'.repeat(500));
    const [response] = await answered;
    expect(response.statusCode).toBe(413);
    response.resume();
    req.destroy();
  });

  it('opens internal operations only to the internal token', async () => {
    await start();
    const remove = (authorization?: string) =>
      call('/internal/things', { method: 'DELETE', ...(authorization ? { headers: { authorization } } : {}) });
    expect((await remove()).status).toBe(401);
    expect((await remove('Bearer the-internal-tokem')).status).toBe(401);
    expect((await remove('Bearer the-internal-token')).status).toBe(204);
  });

  it('does not start with an operation that nothing guards', () => {
    const operations = [bind(createThread, () => noContent())];
    expect(() => createApp({ context, operations })).toThrow('no principal verifier');
    expect(() => createApp({ context, operations: [bind(internal, () => noContent())] })).toThrow('no internal token');
  });

  it('is ready when its checks pass and it is not stopping', async () => {
    let healthy = true;
    const readiness = {
      async database() {
        if (!healthy) throw new Error('no');
      },
    };
    await start({ readiness });
    expect((await call('/ok?check_db=1')).body).toEqual({ ok: true, services: { database: 'ok' } });
    healthy = false;
    expect(await call('/ok?check_db=1')).toMatchObject({ status: 503, body: { detail: 'Not available: database' } });
    expect(await call('/ok')).toMatchObject({ status: 200, body: { ok: true } });
  });

  it('counts requests by route template', async () => {
    await start({ metricsPrefix: 'lg_api_' });
    await call(`/threads/${threadId}`);
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text).toContain('lg_api_http_requests_total{method="GET",path="/threads/{thread_id}",status="200"} 1');
    expect(text).toContain('lg_api_http_requests_latency_bucket');
    const { body } = await call('/metrics?format=json');
    expect(body).toContainEqual(expect.objectContaining({ name: 'lg_api_http_requests_total' }));
  });

  it('answers pages of any origin when open, and no preflight when closed', async () => {
    await start({ cors: 'open' });
    const headers = {
      origin: 'https://a.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key',
    };
    const preflight = await fetch(`${url}/threads`, { method: 'OPTIONS', headers });
    expect([preflight.status, await preflight.text()]).toEqual([200, 'OK']);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('x-api-key');
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
    const answer = await call('/nope', { headers: { origin: 'https://a.example' } });
    const exposed = answer.headers.get('access-control-expose-headers')?.split(', ');
    // SDKs read these headers: the run, the continuation of its stream, the next page.
    expect(exposed).toEqual(expect.arrayContaining(['content-location', 'location', 'x-pagination-next']));
    await context.lifecycle.stop('again');
    context = createContext('test', { LOG_LEVEL: 'silent', processMetrics: false });
    await start();
    const closed = await fetch(`${url}/threads`, { method: 'OPTIONS', headers });
    expect([closed.status, closed.headers.get('access-control-allow-origin')]).toEqual([405, null]);
  });

  it('admits the allowed pages, with cookies where they are named, and no others', async () => {
    const rules = { ...ANY_ORIGIN, methods: ['GET'], headers: ['x-api-key'], exposed: ['x-mine'], maxAgeSeconds: 5 };
    await start({
      cors: {
        ...rules,
        origins: ['https://a.example'],
        originPattern: /^https:\/\/\w+\.b\.example$/,
        credentials: true,
      },
    });
    const from = (origin: string) => fetch(`${url}/ok`, { headers: { origin } });
    for (const origin of ['https://a.example', 'https://x.b.example']) {
      const { headers } = await from(origin);
      expect([headers.get('access-control-allow-origin'), headers.get('access-control-allow-credentials')]).toEqual([
        origin,
        'true',
      ]);
      expect(headers.get('vary')).toContain('origin');
      expect(headers.get('access-control-expose-headers')).toMatch(/x-pagination-next, content-location.*x-mine/);
    }
    const stranger = await from('https://x.b.example.evil.example');
    expect([stranger.status, stranger.headers.get('access-control-allow-origin')]).toEqual([200, null]);
    const preflight = (origin: string) =>
      fetch(`${url}/ok`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'GET' } });
    const allowed = (await preflight('https://a.example')).headers;
    expect(allowed.get('access-control-allow-methods')).toBe('GET');
    expect(allowed.get('access-control-allow-headers')).toBe('x-api-key');
    expect(allowed.get('access-control-max-age')).toBe('5');
    const refused = await preflight('https://evil.example');
    expect([refused.status, await refused.json()]).toEqual([400, { detail: 'Disallowed CORS origin' }]);
    await context.lifecycle.stop('again');
    context = createContext('test', { LOG_LEVEL: 'silent', processMetrics: false });
    await start({ cors: { ...rules, origins: ['*'], credentials: true } });
    const { headers } = await from('https://a.example');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('leaves out disabled operations, including built-in ones', async () => {
    await start({
      openApi: { title: 'Things', version: '1.2.3' },
      isExcluded: ({ path }) => path === '/metrics' || path === '/optional',
      additionalOpenApi: {
        paths: { '/mine': { get: { summary: 'Mine' } }, '/threads': { post: { summary: 'Shadow' } } },
      },
    });
    for (const path of ['/metrics', '/optional']) expect(await call(path)).toMatchObject({ status: 404 });
    const { paths } = (await call('/openapi.json')).body;
    expect(Object.keys(paths)).not.toContain('/metrics');
    expect(paths).toMatchObject({ '/mine': { get: { summary: 'Mine' } }, '/threads': { post: { summary: 'Shadow' } } });
    expect(await (await fetch(`${url}/docs`)).text()).toContain('/mine');
  });

  it('documents itself for programs and for people', async () => {
    await start({ openApi: { title: 'Things', version: '1.2.3' } });
    const description = await call('/openapi.json');
    expect(description.headers.get('x-content-type-options')).toBe('nosniff');
    expect(description.body).toMatchObject({
      info: { title: 'Things', version: '1.2.3' },
      paths: { '/threads/{thread_id}': { get: { operationId: 'getThread' } }, '/ok': {} },
    });
    const page = await fetch(`${url}/docs`);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'$/),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    const html = await page.text();
    expect(html).toContain('/threads/{thread_id}');
    expect(html).not.toMatch(/<script|https?:\/\//);
  });

  it('documents how callers prove who they are, for all operations and for single ones', async () => {
    await start({
      openApi: { title: 'Things', version: '1.2.3' },
      security: {
        securitySchemes: { oauth: { type: 'oauth2' }, device: { type: 'apiKey', in: 'header', name: 'x-device' } },
        paths: { '/threads/{thread_id}': { GET: [{ oauth: ['read'], device: [] }] } },
      },
      additionalOpenApi: { components: { securitySchemes: { mine: { type: 'http', scheme: 'basic' } } } },
    });
    const { paths, components } = (await call('/openapi.json')).body;
    expect(Object.keys(components.securitySchemes)).toEqual([
      'ApiKey',
      'TenantId',
      'Bearer',
      'mine',
      'oauth',
      'device',
    ]);
    expect(paths['/threads/{thread_id}'].get.security).toEqual([{ oauth: ['read'], device: [] }]);
    expect(paths['/threads'].post.security).toEqual([{ oauth: [] }, { device: [] }]);
    expect(paths['/ok'].get.security, 'public').toEqual([]);
    const page = await (await fetch(`${url}/docs`)).text();
    expect(page).toContain('<a href="#security-oauth">oauth</a> and <a href="#security-device">device</a>');
  });

  it('lets requests in flight finish at stop, and accepts no new ones', async () => {
    await start();
    let answer!: () => void;
    let arrived = false;
    onGet = () => {
      arrived = true;
      return new Promise((resolve) => {
        answer = () => resolve(ok({ finished: true }));
      });
    };
    const inFlight = call(`/threads/${threadId}`);
    await waitFor(() => arrived);
    const stopped = context.lifecycle.stop('test');
    await waitFor(() =>
      fetch(`${url}/ok`).then(
        () => false,
        () => true,
      ),
    );
    answer();
    expect((await inFlight).body).toEqual({ finished: true });
    await stopped;
  });

  it('does not wait at stop for connections without a request', async () => {
    await start();
    const { port } = new URL(url);
    const idle = connect(Number(port), '127.0.0.1');
    await once(idle, 'connect');
    await call('/ok');
    await context.lifecycle.stop('test');
    idle.destroy();
  });

  it('cuts connections at stop that do not end in time', async () => {
    await start({}, { drainMs: 1 });
    onGet = async ({ res }) => void res.writeHead(200).flushHeaders();
    const response = await fetch(`${url}/threads/${threadId}`);
    await context.lifecycle.stop('test');
    await expect(response.text()).rejects.toThrow();
    expect(context.lifecycle.failures).toBe(0);
  });
});
