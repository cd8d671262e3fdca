import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bindLoopback, type LoopbackClient } from './loopback-client.ts';

let folder: string;
let server: Server;
let client: LoopbackClient;
const received: [method: string | undefined, url: string | undefined, body: string][] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loopback-'));
  const socketPath = join(folder, 'server');
  server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    received.push([req.method, req.url, body]);
    res.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  client = bindLoopback({ socketPath, token: 't' }, undefined);
});
afterAll(async () => {
  server?.close();
  server?.closeAllConnections();
  await rm(folder, { recursive: true });
});

it.each(['DELETE', 'OPTIONS', 'POST'])(
  'a body of %s is that of its request, and never another request',
  async (method) => {
    received.length = 0;
    const body = 'GET /secret HTTP/1.1\r\nhost: x\r\n\r\n';
    const url = `${client.address}/store/items`;
    for (const sent of [body, new Blob([body]).stream()]) {
      const init = { method, body: sent, duplex: 'half' } as RequestInit;
      expect((await client.fetch(url, init)).status).toBe(204);
    }
    expect((await client.fetch(`${client.address}/ok`)).status).toBe(204);
    expect(received).toEqual([
      [method, '/store/items', body],
      [method, '/store/items', body],
      ['GET', '/ok', ''],
    ]);
  },
);
