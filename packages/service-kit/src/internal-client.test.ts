import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Type from 'typebox';
import { expect, it } from 'vitest';
import { InternalClient } from './internal-client.ts';

it('an answer that is no JSON is told with its status, whoever stands between two services', async () => {
  const server = createServer((_req, res) => res.writeHead(502).end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new InternalClient({ service: 'control-plane', url, internalToken: 'token', timeoutMs: 5_000 });
  await expect(client.ask('/internal/any', {}, Type.Object({}))).rejects.toThrow(
    'control-plane answers 502 with 0 characters that are no JSON',
  );
  server.close();
});
