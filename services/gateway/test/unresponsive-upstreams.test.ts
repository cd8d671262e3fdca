import type { IncomingMessage, ServerResponse } from 'node:http';
import { FaultLine, waitFor } from '@runyard/test-kit';
import { deploymentRoute, FakeControlPlane, type FakeServer, startFakeServer } from '@runyard/test-kit/fake-platform';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

const SILENCE_SECONDS = 0.5;

let gateway: TestGateway;
let upstream: FakeServer;
let line: FaultLine;
let answer: (req: IncomingMessage, res: ServerResponse) => void = (_req, res) => res.end('{}');
/** Probes that get no answer, before all others get one. */
let unansweredProbes = 0;
let base: string;
let headers: Record<string, string>;
beforeAll(async () => {
  upstream = await startFakeServer((req, res) => {
    if (req.url !== '/ok') answer(req, res);
    else if (unansweredProbes-- <= 0) res.end('{}');
  });
  line = await FaultLine.to(upstream.url);
  const route = deploymentRoute({ upstreams: [line.url.replace(/\/$/, '')] });
  const controlPlane = await FakeControlPlane.start();
  controlPlane.routes.push(route);
  gateway = await startGateway({ controlPlane, env: { UPSTREAM_SILENCE_SECONDS: String(SILENCE_SECONDS) } });
  headers = { 'x-api-key': gateway.orgAccess.issue(route.workspace_id).key };
  base = `${gateway.url}/deployments/${route.deployment_id}`;
  await gateway.untilReady();
});
afterEach(() => line.heal());
afterAll(async () => {
  await gateway.close();
  await line.close();
  await upstream.close();
});

it.each(['GET', 'POST'])('a %s that a partition cuts off ends in 503, and the next works', async (method) => {
  answer = (_req, res) => res.end('{}');
  const ask = () => fetch(`${base}/threads/x`, { method, headers, ...(method === 'POST' && { body: '{}' }) });
  expect((await ask()).status).toBe(200);
  line.partition();
  const refused = await ask();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  await line.heal();
  expect((await ask()).status).toBe(200);
});

it('an open stream is broken off when its upstream becomes unresponsive', async () => {
  answer = (_req, res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: a\n\n');
  const reader = (await fetch(`${base}/runs/stream`, { headers })).body!.getReader();
  await reader.read();
  line.partition();
  await expect(reader.read()).rejects.toThrow();
});

it('a slow upstream is left alone as long as it lives', async () => {
  answer = (_req, res) => setTimeout(() => res.end('{"late":true}'), 3 * SILENCE_SECONDS * 1_000);
  const response = await fetch(`${base}/threads/x`, { headers });
  expect(await response.json()).toEqual({ late: true });
});

it('an upstream that leaves two probes unanswered keeps its requests: it may only be slow', async () => {
  unansweredProbes = 2;
  answer = async (_req, res) => {
    await waitFor(() => unansweredProbes < 0, { what: 'the third probe' });
    res.end('{"late":true}');
  };
  const response = await fetch(`${base}/runs/wait`, { method: 'POST', headers, body: '{}' });
  expect(await response.json()).toEqual({ late: true });
});

it('a client that reads slowly does not make its upstream look unresponsive', async () => {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const chunks = 200;
  answer = (_req, res) => {
    let sent = 0;
    const more = () => {
      while (sent++ < chunks) if (!res.write(chunk)) return void res.once('drain', more);
      res.end();
    };
    more();
  };
  const response = await fetch(`${base}/threads/x`, { headers });
  await new Promise((resolve) => setTimeout(resolve, 3 * SILENCE_SECONDS * 1_000));
  expect((await response.arrayBuffer()).byteLength).toBe(chunks * chunk.byteLength);
});
