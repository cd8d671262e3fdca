import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { NotFoundError } from '../errors.ts';
import { refuseUpgrade } from './upgrades.ts';

let server: Server;
let client: Socket;
afterEach(async () => {
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const UPGRADE = 'GET / HTTP/1.1\r\nhost: here\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n';

/** Has an upgrade refused. @returns the server's end of the connection, and what the client read until its end */
async function refused(sent: string, lingerMs?: number): Promise<{ socket: Duplex; answer: string }> {
  server = createServer().listen(0, '127.0.0.1');
  const upgraded = new Promise<Duplex>((resolve) => {
    server.on('upgrade', (_req, socket) => {
      refuseUpgrade(socket, new NotFoundError('Not Found'), lingerMs === undefined ? {} : { lingerMs });
      resolve(socket);
    });
  });
  await once(server, 'listening');
  client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  client.write(sent);
  let answer = '';
  client.setEncoding('latin1').on('data', (text) => {
    answer += text;
  });
  await once(client, 'end');
  return { socket: await upgraded, answer };
}

describe('a connection whose upgrade is refused', () => {
  it('gives the whole answer to a client that is still sending', async () => {
    const { answer } = await refused(UPGRADE + 'x'.repeat(2_000_000));
    expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n[\s\S]*\r\n\r\n\{"detail":"Not Found"\}$/);
  });

  it('is closed as soon as its client closes it', async () => {
    const { socket } = await refused(UPGRADE);
    const closed = once(socket, 'close');
    client.end();
    await closed;
  });

  it('is closed after a while when its client keeps it', async () => {
    const { socket } = await refused(UPGRADE, 10);
    if (!socket.destroyed) await once(socket, 'close');
  });
});
