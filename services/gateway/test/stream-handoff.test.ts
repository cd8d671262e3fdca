import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { FaultLine, waitFor } from '@runyard/test-kit';
import {
  deploymentRoute,
  FakeControlPlane,
  FakeOrgAccess,
  type FakeServer,
  readRequestBody,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

type Answer = (req: IncomingMessage, res: ServerResponse) => void;

/** These tests have a gateway in front of one deployment with two processes that answer as each test says. */
describe('a deployment whose processes stop and start', () => {
  let gateway: TestGateway;
  let controlPlane: FakeControlPlane;
  let upstreams: FakeServer[];
  /** The requests that the processes got, after their number: `0 GET /x`. */
  let asked: string[];
  let answers: Answer[];
  let base: string;
  let headers: Record<string, string>;

  beforeEach(async () => {
    asked = [];
    answers = [];
    upstreams = await Promise.all(
      [0, 1].map((number) =>
        startFakeServer((req, res) => {
          asked.push(`${number} ${req.method} ${req.url}`);
          answers[number]!(req, res);
        }),
      ),
    );
    const route = deploymentRoute({ upstreams: upstreams.map(({ url }) => url) });
    controlPlane = await FakeControlPlane.start();
    controlPlane.routes.push(route);
    gateway = await startGateway({ controlPlane });
    headers = { 'x-api-key': gateway.orgAccess.issue(route.workspace_id).key };
    base = `${gateway.url}/deployments/${route.deployment_id}`;
    await gateway.untilReady();
  });
  afterEach(async () => {
    await gateway.close();
    await Promise.all(upstreams.map((upstream) => upstream.close()));
  });

  const well: Answer = (req, res) => void readRequestBody(req).then((body) => res.end(`well: ${body}`));
  const breaksOff: Answer = (_req, res) => res.destroy();
  const post = (further: Record<string, string> = {}) =>
    fetch(`${base}/x`, { method: 'POST', body: 'ab', headers: { ...headers, ...further } });

  it('has a repeatable request carried out by the other one when the first breaks off', async () => {
    answers = [breaksOff, well];
    const got = await fetch(`${base}/x`, { headers });
    expect([got.status, await got.text()]).toEqual([200, 'well: ']);
    answers = [well, breaksOff];
    upstreams.reverse();
    const posted = await post({ 'idempotency-key': 'one' });
    expect([posted.status, await posted.text()]).toEqual([200, 'well: ab']);
  });

  it('reports that an unrepeatable request may have been carried out, with Retry-After', async () => {
    answers = [breaksOff, breaksOff];
    const response = await post();
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toEqual({
      detail: 'The deployment broke off before it answered: the request may have been carried out',
    });
    expect(asked).toHaveLength(1);
  });

  it('gets a request again in its only process when a connection to it breaks', async () => {
    controlPlane.routes[0] = { ...controlPlane.routes[0]!, upstreams: [upstreams[0]!.url], version: 2 };
    await gateway.refreshRoutes();
    answers = [
      (_req, res) => {
        answers = [well];
        res.destroy();
      },
    ];
    expect((await fetch(`${base}/x`, { headers })).status).toBe(200);
  });

  it('gets in the other process what a starting one left untouched', async () => {
    const starting: Answer = (_req, res) => {
      res.writeHead(503, { 'x-runyard-untouched': 'starting', 'retry-after': '1', connection: 'close' }).end('{}');
    };
    answers = [starting, well];
    expect(await (await post()).text()).toBe('well: ab');
    expect(asked).toEqual(['0 POST /x', '1 POST /x']);
    answers = [starting, starting];
    const refused = await post();
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('x-runyard-untouched')]).toEqual([
      503,
      '1',
      null,
    ]);
  });

  it('gets requests in a process that closes its connections only when there is no other', async () => {
    answers = [(_req, res) => res.setHeader('connection', 'close').end('leaving'), well];
    for (let count = 0; count < 6; count += 1) expect((await post()).status).toBe(200);
    expect(asked.filter((line) => line.startsWith('0'))).toHaveLength(1);
    answers = [answers[0]!, breaksOff];
    expect(await (await fetch(`${base}/x`, { headers })).text()).toBe('leaving');
  });

  it('has its idle connections closed by the gateway: a stopping process would close them under a request', async () => {
    answers = [well, well];
    // The processes themselves keep idle connections for ever.
    for (const { server } of upstreams) server.keepAliveTimeout = 0;
    const [socket] = (await Promise.all([once(upstreams[0]!.server, 'connection'), post(), post()]))[0] as [
      NodeJS.EventEmitter,
    ];
    await once(socket, 'close');
  });

  it('has the rest of an answer sent by the other process, as often as it is handed off', async () => {
    const handsOver =
      (piece: string, path: string, afterId?: string): Answer =>
      (_req, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream', location: '/threads/T/runs/R/stream' });
        res.write(piece);
        res.addTrailers({ 'x-runyard-handover': path, ...(afterId && { 'last-event-id': afterId }) });
        res.end();
      };
    const seen: IncomingMessage['headers'][] = [];
    answers = [
      (req, res) => {
        seen.push(req.headers);
        handsOver('event: a\n\n', '/threads/T/runs/R/stream?x=1', '5-1')(req, res);
      },
      (req, res) => {
        seen.push(req.headers);
        if (seen.length === 2) handsOver('event: b\n\n', '/threads/T/runs/R/stream?x=2')(req, res);
        else res.end('event: c\n\n');
      },
    ];
    answers[0] = (
      (first) => (req, res) =>
        seen.length === 0 ? first(req, res) : res.destroy()
    )(answers[0]!);
    const response = await post({ 'content-type': 'application/json', 'x-runyard-handover': 'forged' });
    expect(response.headers.get('location')).toBe('/threads/T/runs/R/stream');
    expect(await response.text()).toBe('event: a\n\nevent: b\n\nevent: c\n\n');
    expect(asked.filter((line) => line.startsWith('1'))).toEqual([
      '1 GET /threads/T/runs/R/stream?x=1',
      '1 GET /threads/T/runs/R/stream?x=2',
    ]);
    expect(seen.map((each) => [each['x-runyard-handover'], each['last-event-id'], each['content-type']])).toEqual([
      ['accepted', undefined, 'application/json'],
      ['continued', '5-1', undefined],
      ['continued', undefined, undefined],
    ]);
    expect(seen[1]!['x-runyard-principal']).toMatch(/^token for deployment:/);
  });

  it('has the connection cut when the rest is refused, so that half an answer never looks like a whole one', async () => {
    const handsOver: Answer = (_req, res) => {
      res.write('half');
      res.addTrailers({ 'x-runyard-handover': '/rest' });
      res.end();
    };
    answers = [handsOver, handsOver].map((answer) => (req, res) => {
      if (req.url === '/rest') res.writeHead(404).end();
      else answer(req, res);
    });
    const response = await fetch(`${base}/x`, { headers });
    await expect(response.text()).rejects.toThrow();
    expect(asked.filter((line) => line.endsWith('/rest'))).toHaveLength(2);
  });

  it('is asked for the rest for a while when no process has it yet', async () => {
    let refusals = 0;
    const restarting: Answer = (req, res) => {
      if (req.url !== '/rest') {
        res.write('half, ');
        res.addTrailers({ 'x-runyard-handover': '/rest' });
        res.end();
      } else if (++refusals < 5) res.writeHead(503).end();
      else res.end('whole');
    };
    answers = [restarting, restarting];
    expect(await (await fetch(`${base}/x`, { headers })).text()).toBe('half, whole');
  });

  it('gets requests in the other one when nothing listens at the first', async () => {
    const closed = createTcpServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as { port: number };
    closed.close();
    const urls = [`http://127.0.0.1:${port}`, upstreams[0]!.url];
    controlPlane.routes[0] = { ...controlPlane.routes[0]!, upstreams: urls, version: 2 };
    await gateway.refreshRoutes();
    answers = [well, well];
    for (let count = 0; count < 4; count += 1) expect((await post()).status).toBe(200);
    await waitFor(() => asked.length === 4);
  });
});

it('a connection for the gateway’s own calls is closed before its server closes it, perhaps under the next call', async () => {
  const orgAccess = await FakeOrgAccess.start();
  const line = await FaultLine.to(orgAccess.url);
  const gateway = await startGateway({ orgAccess, env: { ORG_ACCESS_URL: line.url.replace(/\/$/, '') } });
  await gateway.untilReady();
  expect((await fetch(`${gateway.url}/deployments/none/threads`, { headers: { 'x-api-key': 'unknown' } })).status).toBe(
    401,
  );
  expect(line.openConnections).toBeGreaterThan(0);
  // The server says that it keeps connections for 75 s.
  await waitFor(() => line.openConnections === 0, { what: 'the connection to be closed' });
  await gateway.close();
  await line.close();
});
