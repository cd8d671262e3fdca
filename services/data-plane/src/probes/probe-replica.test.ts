import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { probeReplica } from './probe-replica.ts';

it('a probe leaves no connection that a server would wait for when it stops', async () => {
  const server = createServer({ keepAliveTimeout: 60_000 }, (_req, res) => res.end('{}'));
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const answer = await probeReplica(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/ok`,
    new AbortController().signal,
  );
  expect(await answer.json()).toEqual({});
  const [socket] = await connected;
  if (!socket.destroyed) await once(socket, 'close');
});
