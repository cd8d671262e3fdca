import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { HTTP_UNKNOWN_CALLER_BODY_SECONDS: '0.2' } });
  await gateway.untilReady();
});
afterAll(() => gateway?.close());

it('a caller whom nobody knows and who never ends a body holds no place for long', async () => {
  const { hostname, port } = new URL(gateway.url);
  const heads = ['POST /login HTTP/1.1', `host: ${hostname}`, 'content-type: application/x-www-form-urlencoded'];
  for (const length of ['content-length: 1000', 'transfer-encoding: chunked']) {
    const socket = connect(Number(port), hostname);
    socket.write(`${[...heads, length].join('\r\n')}\r\n\r\n1\r\na\r\n`);
    socket.on('error', () => undefined).resume();
    await once(socket, 'close');
    expect(socket.destroyed, length).toBe(true);
  }
});
