import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { LOOPBACK_HEADER } from '@runyard/host-protocol';
import { createContext } from '@runyard/service-kit';
import { FaultLine } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ServerForwarder } from './forward-to-server.ts';

const { logger } = createContext('test', { LOG_LEVEL: 'silent', processMetrics: false });
let servers: Server[];
let forwarding: ServerForwarder;
beforeEach(() => {
  servers = [];
});
afterEach(() => {
  forwarding.close();
  for (const server of servers) server.close();
});

async function listening(onRequest: RequestListener): Promise<string> {
  const server = createServer(onRequest);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns the forwarding, and counts its lookups of the server. */
async function forward(urls: (string | undefined)[], unresponsiveMs?: number) {
  const lookups = { count: 0 };
  forwarding = new ServerForwarder({
    logger,
    ...(unresponsiveMs !== undefined && { unresponsiveMs }),
    async findServer() {
      const url = urls[Math.min(lookups.count++, urls.length - 1)];
      return url === undefined ? undefined : { serverId: 's', url, token: 'secret', revisionId: null };
    },
  });
  return { lookups, url: await listening(forwarding.onRequest) };
}

it('requests are forwarded with the credentials of the server, and answers are streamed', async () => {
  const seen: { url: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
  const server = await listening(async (req, res) => {
    seen.push({ url: req.url, headers: req.headers, body: await text(req) });
    res.writeHead(201, { 'x-answer': 'yes' }).end('done');
  });
  const { url, lookups } = await forward([`${server}/agents`]);
  for (let time = 0; time < 2; time++) {
    const answer = await fetch(`${url}/threads?a=1`, { method: 'POST', body: '{}', headers: { 'x-mine': '1' } });
    expect([answer.status, answer.headers.get('x-answer'), await answer.text()]).toEqual([201, 'yes', 'done']);
  }
  expect(seen[0]).toMatchObject({
    url: '/agents/threads?a=1',
    body: '{}',
    headers: { 'x-mine': '1', [LOOPBACK_HEADER]: 'secret' },
  });
  expect(lookups.count).toBe(1);
});

it('another server is looked up when the known one does not answer, and having none is an error', async () => {
  const gone = await listening(() => undefined);
  await new Promise((resolve) => servers.pop()!.close(resolve));
  const server = await listening((_req, res) => res.end('here'));
  const { url } = await forward([gone, server, undefined]);
  const refused = await fetch(url);
  expect([refused.status, await refused.json()]).toEqual([
    503,
    { detail: 'The server of the deployment is not reachable at the moment' },
  ]);
  expect(await (await fetch(url)).text()).toBe('here');
});

it('an answer is waited for as long as the server lives, and no longer', async () => {
  const server = await listening((req, res) => {
    if (req.url === '/ok') res.end('{}');
    else setTimeout(() => res.end('late'), 400);
  });
  const line = await FaultLine.to(server);
  const { url } = await forward([line.url.replace(/\/$/, '')], 100);
  expect(await (await fetch(url)).text()).toBe('late');
  line.partition();
  expect((await fetch(url)).status).toBe(503);
  await line.close();
});

it('a server of the same process is reached at its socket, with the credentials of that', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'forward-'));
  const socketPath = join(folder, 'server');
  const server = createServer((req, res) => res.end(`${req.url} ${req.headers[LOOPBACK_HEADER]}`));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  forwarding = new ServerForwarder({ logger, findServer: async () => ({ socketPath, token: 'secret' }) });
  const url = await listening(forwarding.onRequest);
  expect(await (await fetch(`${url}/threads?a=1`)).text()).toBe('/threads?a=1 secret');
  await rm(folder, { recursive: true });
});
