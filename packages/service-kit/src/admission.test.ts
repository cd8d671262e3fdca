import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { defineOperation } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import Type from 'typebox';
import { afterEach, expect, it } from 'vitest';
import { excludeFromInFlight } from './admission.ts';
import { UnavailableError } from './errors.ts';
import { readUnauthenticatedBody } from './http/admitted-body.ts';
import { createApp } from './http/app.ts';
import { bind } from './http/bind.ts';
import { listen } from './http/listen.ts';
import { ok } from './http/reply.ts';
import { ANONYMOUS } from './principal.ts';
import { createContext } from './service.ts';

const described = (path: string) => ({
  operationId: path.slice(1),
  method: 'post' as const,
  path,
  summary: 'For the test.',
  tags: ['things'],
  access: 'public' as const,
  responses: { 200: { description: 'Done.' } },
});
const operation = (path: string) =>
  defineOperation({
    ...described(path),
    body: Type.Object({ text: Type.Optional(Type.String()) }),
    bodyOptional: true,
  });

let stop: () => Promise<void>;
afterEach(() => stop());

/** Starts a service whose `/slow` answers when the test says so, and whose `/long` is not counted. */
async function serving(limits: { requests?: number; bodyBytes?: number }) {
  const context = createContext('test', {
    LOG_LEVEL: 'silent',
    processMetrics: false,
    ...(limits.requests && { HTTP_MAX_REQUESTS_IN_FLIGHT: limits.requests }),
    ...(limits.bodyBytes && { HTTP_MAX_BODY_BYTES_IN_FLIGHT: limits.bodyBytes }),
  });
  stop = () => context.lifecycle.stop('test');
  const waiting: (() => void)[] = [];
  const held = () => new Promise<void>((resolve) => waiting.push(resolve));
  const app = createApp({
    context,
    operations: [
      bind(operation('/slow'), async () => {
        await held();
        return ok({});
      }),
      bind(operation('/long'), async ({ res }) => {
        excludeFromInFlight(res);
        await held();
        return ok({});
      }),
      bind(defineOperation(described('/stranger')), async ({ raw, res }) => {
        await readUnauthenticatedBody(raw, res, 100_000);
        return ok({});
      }),
      bind(operation('/away'), async () => {
        throw new UnavailableError('The database is not available', { code: 'database_unavailable' });
      }),
    ],
  });
  const { url } = await listen(app, { host: '127.0.0.1', port: 0, context });
  const refused = async (reason: string) => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return new RegExp(`http_requests_refused_total\\{reason="${reason}"\\} (\\d+)`).exec(text)?.[1];
  };
  const post = (path: string, text = '') => fetch(url + path, { method: 'POST', body: JSON.stringify({ text }) });
  const release = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  const underWay = (count: number) => waitFor(() => waiting.length === count, { what: `${count} requests under way` });
  return { url, post, refused, underWay, release };
}

it('requests over the limit get 503 with Retry-After, and health checks an answer', async () => {
  const { url, post, refused, underWay, release } = await serving({ requests: 2 });
  const admitted = [post('/slow'), post('/slow')];
  await underWay(2);
  const answer = await post('/slow');
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(await answer.json()).toEqual({ detail: 'Too many requests are being answered at the moment' });
  expect((await fetch(`${url}/ok`)).status).toBe(200);
  expect(await refused('requests_in_flight')).toBe('1');
  release();
  expect((await Promise.all(admitted)).map(({ status }) => status)).toEqual([200, 200]);
  const again = post('/slow');
  await underWay(1);
  release();
  expect((await again).status).toBe(200);
});

it('requests that are refused because a dependency is unavailable are counted by that', async () => {
  const { post, refused } = await serving({});
  expect((await post('/away')).status).toBe(503);
  expect(await refused('database')).toBe('1');
});

it('an answer that is counted elsewhere makes room for the next request', async () => {
  const { post, underWay, release } = await serving({ requests: 1 });
  const long = post('/long');
  await underWay(1);
  const next = post('/slow');
  await underWay(2);
  release();
  expect((await next).status).toBe(200);
  expect((await long).status).toBe(200);
});

it('all bodies in memory have a common limit, announced or not, and a single one is never too much', async () => {
  const { url, post, refused, underWay, release } = await serving({ bodyBytes: 1_000 });
  const large = post('/slow', 'x'.repeat(5_000));
  await underWay(1);
  expect((await post('/slow', 'x'.repeat(100))).status).toBe(503);
  const chunked = request(`${url}/slow`, { method: 'POST' });
  const status = new Promise((resolve) => chunked.on('response', (res) => resolve(res.resume().statusCode)));
  chunked.write('{"text":"');
  chunked.end(`${'x'.repeat(100)}"}`);
  expect(await status).toBe(503);
  expect(await refused('body_bytes')).toBe('2');
  release();
  expect((await large).status).toBe(200);
  const small = post('/slow', 'x'.repeat(100));
  await underWay(1);
  release();
  expect((await small).status).toBe(200);
});

it('bodies of unknown callers have their own share, counted as they arrive, and leave the rest to known callers', async () => {
  const { url, post, refused, underWay, release } = await serving({ bodyBytes: 80_000 });
  const announced = connect(Number(new URL(url).port), '127.0.0.1');
  announced.write('POST /stranger HTTP/1.1\r\nhost: a\r\ncontent-length: 60000\r\n\r\nnothing more');
  const sending = request(`${url}/stranger`, { method: 'POST' });
  sending.on('error', () => undefined).write('x'.repeat(9_000));
  await waitFor(async () => (await post('/stranger', 'x'.repeat(2_000))).status === 503, {
    what: 'the share to be full',
  });
  const known = post('/slow', 'x'.repeat(60_000));
  await underWay(1);
  release();
  expect((await known).status).toBe(200);
  expect(Number(await refused('body_bytes'))).toBeGreaterThan(0);
  announced.destroy();
  sending.destroy();
  await waitFor(async () => (await post('/stranger', 'x'.repeat(60_000))).status === 200, { what: 'room to be free' });
});

it('a client that disconnects during its authentication holds no room for its body', async () => {
  const context = createContext('test', {
    LOG_LEVEL: 'silent',
    processMetrics: false,
    HTTP_MAX_BODY_BYTES_IN_FLIGHT: 1_000,
  });
  stop = () => context.lifecycle.stop('test');
  const asked: { req: IncomingMessage; identified(): void }[] = [];
  const app = createApp({
    context,
    principal: {
      authenticate: (req) =>
        new Promise((resolve) =>
          asked.push({ req, identified: () => resolve({ ...ANONYMOUS, identity: 'somebody' }) }),
        ),
    },
    operations: [bind({ ...operation('/things'), access: 'principal', permission: 'any key' }, async () => ok({}))],
  });
  const { url } = await listen(app, { host: '127.0.0.1', port: 0, context });
  const client = connect(Number(new URL(url).port), '127.0.0.1');
  client.on('error', () => undefined);
  client.write('POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 900\r\n\r\n{');
  await waitFor(() => asked.length === 1, { what: 'the client to be asked who it is' });
  client.resetAndDestroy();
  await waitFor(() => asked[0]!.req.destroyed, { what: 'the client to be seen leaving' });
  asked[0]!.identified();
  const next = fetch(`${url}/things`, { method: 'POST', body: JSON.stringify({ text: 'x'.repeat(200) }) });
  await waitFor(() => asked.length === 2, { what: 'the next client' });
  asked[1]!.identified();
  expect((await next).status).toBe(200);
});
