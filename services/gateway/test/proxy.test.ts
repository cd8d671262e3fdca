import { once } from 'node:events';
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { waitFor } from '@runyard/test-kit';
import {
  deploymentRoute,
  FakeControlPlane,
  type FakeServer,
  readRequestBody,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

const ENVIRONMENT = {
  HTTP_MAX_REQUEST_BODY_BYTES: '200000',
  RATE_LIMIT_FAILURES_RPS: '0.1',
  RATE_LIMIT_FAILURES_BURST: '20',
};

/** These tests have a gateway in front of one deployment that answers as each test says. */
describe('the gateway as a proxy', () => {
  let gateway: TestGateway;
  let upstream: FakeServer;
  let answer: (req: IncomingMessage, res: ServerResponse) => void;
  let base: string;
  let key: string;

  beforeEach(async () => {
    upstream = await startFakeServer((req, res) => answer(req, res));
    const route = deploymentRoute({ upstreams: [upstream.url] });
    const controlPlane = await FakeControlPlane.start();
    controlPlane.routes.push(route);
    gateway = await startGateway({ controlPlane, env: ENVIRONMENT });
    key = gateway.orgAccess.issue(route.workspace_id).key;
    base = `${gateway.url}/deployments/${route.deployment_id}`;
    await gateway.untilReady();
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  it('streams each event when it happens, unbuffered', async () => {
    let sink!: ServerResponse;
    answer = (_req, res) => {
      sink = res;
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    };
    // Headers arrive before there is any event.
    const response = await fetch(`${base}/runs/stream`, { method: 'POST', body: '{}', headers: { 'x-api-key': key } });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = response.body!.getReader();
    for (const event of ['event: a\ndata: 1\n\n', ': heartbeat\n\n', 'event: b\ndata: 2\n\n']) {
      sink.write(event);
      expect(Buffer.from((await reader.read()).value!).toString()).toBe(event);
    }
    sink.end();
    expect((await reader.read()).done).toBe(true);
  });

  it.each(['metrics#', 'runs/wait#?x', 'mcp\\'])(
    'passes on no path that a deployment could read as another: %s',
    async (path) => {
      const asked: unknown[] = [];
      answer = ({ url }, res) => {
        asked.push(url);
        res.end();
      };
      const { hostname, port, pathname } = new URL(base);
      const req = request({ hostname, port, path: `${pathname}/${path}`, headers: { 'x-api-key': key } }).end();
      const [response] = (await once(req, 'response')) as [IncomingMessage];
      response.resume();
      expect([response.statusCode, asked]).toEqual([400, []]);
    },
  );

  it('ends the upstream request when the client leaves', async () => {
    let gone!: Promise<unknown>;
    answer = (_req, res) => {
      gone = once(res, 'close');
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    };
    const abort = new AbortController();
    await fetch(`${base}/x`, { headers: { 'x-api-key': key }, signal: abort.signal });
    abort.abort();
    await gone;
  });

  it('ends the upstream request when the client leaves before there is an answer', async () => {
    let arrived!: () => void;
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    let gone!: Promise<unknown>;
    answer = (_req, res) => {
      gone = once(res, 'close');
      arrived();
    };
    const abort = new AbortController();
    const fetched = fetch(`${base}/x`, { headers: { 'x-api-key': key }, signal: abort.signal }).catch(() => 'aborted');
    await arrival;
    abort.abort();
    expect(await fetched).toBe('aborted');
    await gone;
  });

  it('cuts the connection when the upstream dies in the middle of an answer', async () => {
    answer = (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('event: a\n\n', () => res.destroy());
    };
    const response = await fetch(`${base}/x`, { headers: { 'x-api-key': key } });
    await expect(response.text()).rejects.toThrow();
  });

  it('leaves status, Location and repeated headers of the deployment as they are', async () => {
    answer = (_req, res) => {
      res.writeHead(201, 'Made', [
        ['Location', '/threads/T/runs/R/stream'],
        ['Content-Location', '/threads/T/runs/R'],
        ['Link', '</a>'],
        ['Link', '</b>'],
        ['X-Pagination-Total', '7'],
        ['Connection', 'x-hop'],
        ['X-Hop', 'no further'],
      ] as never);
      res.end('done');
    };
    const response = await fetch(`${base}/x`, { headers: { 'x-api-key': key } });
    expect([response.status, response.statusText]).toEqual([201, 'Made']);
    expect(response.headers.get('location')).toBe('/threads/T/runs/R/stream');
    expect(response.headers.get('content-location')).toBe('/threads/T/runs/R');
    expect(response.headers.get('link')).toBe('</a>, </b>');
    expect(response.headers.get('x-hop')).toBeNull();
    expect(await response.text()).toBe('done');
  });

  it('passes HEAD, 204 and 304 without inventing a body', async () => {
    answer = (req, res) => {
      if (req.method === 'HEAD') res.writeHead(200, { 'content-length': '12' }).end();
      else res.writeHead(req.url === '/none' ? 204 : 304, { etag: '"1"' }).end();
    };
    const headers = { 'x-api-key': key };
    const head = await fetch(`${base}/x`, { method: 'HEAD', headers });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '12']);
    expect((await fetch(`${base}/none`, { headers })).status).toBe(204);
    expect((await fetch(`${base}/same`, { headers })).status).toBe(304);
  });

  it('passes a large body on while it is still coming, and never holds it', async () => {
    const seen: number[] = [];
    answer = (req, res) => {
      req.on('data', (chunk: Buffer) => seen.push(chunk.length));
      req.on('end', () => res.end(String(seen.reduce((sum, length) => sum + length, 0))));
    };
    const req = request(`${base}/upload`, { method: 'POST', headers: { 'x-api-key': key } });
    const answered = once(req, 'response') as Promise<[IncomingMessage]>;
    req.write(Buffer.alloc(70_000));
    await waitFor(() => seen.reduce((sum, length) => sum + length, 0) === 70_000);
    req.end(Buffer.alloc(30_000));
    const [response] = await answered;
    expect((await readRequestBody(response)).toString()).toBe('100000');
  });

  it('gives the client an answer that comes before its body is complete', async () => {
    answer = (_req, res) => {
      res.writeHead(422, { 'content-type': 'application/json' }).end('{"detail":"no need to go on"}');
    };
    const response = await fetch(`${base}/x`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: Buffer.alloc(190_000),
    });
    expect([response.status, await response.text()]).toEqual([422, '{"detail":"no need to go on"}']);
  });

  it('makes the upstream wait for a client that does not read, instead of holding what it sends', async () => {
    let written = 0;
    answer = (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/octet-stream' });
      const chunk = Buffer.alloc(1_000_000);
      const push = () => {
        while (written < 200 * chunk.length && res.write(chunk)) written += chunk.length;
        res.once('drain', push);
      };
      push();
    };
    const req = request(`${base}/x`, { headers: { 'x-api-key': key } });
    req.end();
    const [response] = (await once(req, 'response')) as [IncomingMessage];
    let before = -1;
    await waitFor(
      () => {
        const isStill = written === before;
        before = written;
        return isStill;
      },
      { intervalMs: 200 },
    );
    expect(written).toBeLessThan(40_000_000);
    response.destroy();
  });

  it('refuses a body over the limit by its announced length', async () => {
    answer = (_req, res) => res.end('should not get here');
    const response = await fetch(`${base}/x`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: Buffer.alloc(200_001),
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ detail: 'Request body is larger than 200000 bytes' });
  });

  it('passes layers of images on to the registry, whatever their size, with the credential they come with', async () => {
    const authorization = `Basic ${Buffer.from('oauth2accesstoken:a token').toString('base64')}`;
    const path = '/v2/registry/some-deployment/agent/blobs/uploads/1';
    const response = await fetch(gateway.url + path, {
      method: 'PATCH',
      headers: { authorization },
      body: Buffer.alloc(1_000_000),
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ url: path, length: 1_000_000, headers: { authorization } });
  });

  it('refuses a chunked body once it is over the limit', async () => {
    answer = (req, res) => {
      req.resume();
      req.on('end', () => res.end('should not get here'));
    };
    const req = request(`${base}/x`, { method: 'POST', headers: { 'x-api-key': key } });
    req.on('error', () => {});
    const answered = once(req, 'response') as Promise<[IncomingMessage]>;
    for (let sent = 0; sent < 5; sent += 1) req.write(Buffer.alloc(50_000));
    const [response] = await answered;
    expect(response.statusCode).toBe(413);
    expect(JSON.parse((await readRequestBody(response)).toString())).toEqual({
      detail: 'Request body is larger than 200000 bytes',
    });
    req.destroy();
  });

  it('answers 401 to a client that is still sending a large body', async () => {
    answer = (_req, res) => res.end('should not get here');
    const response = await fetch(`${base}/x`, { method: 'POST', body: Buffer.alloc(190_000) });
    expect(response.status).toBe(401);
  });

  it('passes websockets through in both directions and ends both sides together', async () => {
    answer = (_req, res) => res.end();
    let closed!: Promise<unknown>;
    let principal: unknown;
    upstream.server.on('upgrade', (req, socket) => {
      principal = req.headers['x-runyard-principal'];
      closed = once(socket, 'close');
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
      socket.on('data', (chunk: Buffer) => socket.write(`you said ${chunk}`));
      socket.on('end', () => socket.end());
    });
    const { port } = new URL(gateway.url);
    const client = connect(Number(port), '127.0.0.1');
    const path = new URL(`${base}/ws?x=1`).pathname;
    client.write(
      `GET ${path} HTTP/1.1\r\nHost: h\r\nX-Api-Key: ${key}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly `,
    );
    let received = '';
    client.on('data', (chunk) => {
      received += chunk;
    });
    await waitFor(() => received.includes('you said early'));
    expect(received).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    expect(principal).toMatch(/^token for deployment:/);
    client.write('more');
    await waitFor(() => received.includes('you said more'));
    client.destroy();
    await closed;
  });

  it('answers requests for an upgrade that there is not as if they asked for none, bodies and guesses included', async () => {
    answer = async (req, res) => res.end(`${req.headers.upgrade} ${await readRequestBody(req)}`);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (url: string, options: { method: string; upgrade: string; headers?: object; body?: string }) =>
      new Promise<{ status: number; text: string; port: number | undefined }>((resolve, reject) => {
        const { method, upgrade, headers = { 'x-api-key': key }, body = '' } = options;
        const settings = { connection: 'Upgrade, HTTP2-Settings', upgrade, 'http2-settings': 'AAMAAABkAAQAAP__' };
        const sent = { ...headers, ...settings, 'content-length': body.length };
        const req = request(url, { method, agent, headers: sent }, async (res) => {
          const port = res.socket.localPort;
          resolve({ status: res.statusCode!, text: String(await readRequestBody(res)), port });
        });
        req.on('error', reject).write(body.slice(0, 2));
        setImmediate(() => req.end(body.slice(2)));
      });
    const body = '{"input": 1}';
    const run = await ask(`${base}/runs/wait`, { method: 'POST', upgrade: 'h2c', body });
    expect(run).toMatchObject({ status: 200, text: `undefined ${body}` });
    const next = await ask(`${base}/runs/wait`, { method: 'POST', upgrade: 'h2c', body });
    expect(next).toEqual(run);
    for (const path of ['/v2/deployments', '/api/v1/workspaces', '/ok']) {
      expect((await ask(gateway.url + path, { method: 'GET', upgrade: 'websocket' })).status, path).toBe(200);
      expect((await ask(`${gateway.url}${path}/none`, { method: 'GET', upgrade: 'websocket' })).text).not.toBe('');
    }
    gateway.controlPlane.answerStatus = 401;
    const guess = { method: 'GET', upgrade: 'websocket', headers: { authorization: 'Bearer wrong' } };
    const guesses = await Promise.all(
      Array.from({ length: 30 }, async () => (await ask(`${gateway.url}/v2/deployments`, guess)).status),
    );
    expect(guesses).toContain(429);
    agent.destroy();
  });

  it('refuses a websocket without a key with JSON', async () => {
    const { port } = new URL(gateway.url);
    const client = connect(Number(port), '127.0.0.1');
    client.write(
      `GET ${new URL(base).pathname}/ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    const received = (await readRequestBody(client as never)).toString();
    expect(received).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
    expect(received).toMatch(/\{"detail":"Missing authentication headers"\}$/);
  });
});
