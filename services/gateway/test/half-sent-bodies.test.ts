import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { HTTP_UNKNOWN_CALLER_BODY_SECONDS: '0.2' } });
  await gateway.untilReady();
});
afterAll(() => gateway?.close());

/** Resolves when the gateway has cut a connection on which the body of a form does not come. */
async function untilCut(length: string): Promise<void> {
  const { hostname, port } = new URL(gateway.url);
  const heads = ['POST /login HTTP/1.1', `host: ${hostname}`, 'content-type: application/x-www-form-urlencoded'];
  const socket = connect(Number(port), hostname);
  socket.write(`${[...heads, length].join('\r\n')}\r\n\r\n1\r\na\r\n`);
  socket.on('error', () => undefined).resume();
  await once(socket, 'close');
}

it('a caller whom nobody knows and who never ends a body holds no place for long', async () => {
  for (const length of ['content-length: 1000', 'transfer-encoding: chunked']) await untilCut(length);
});

it('an upload by a signed URL may take longer than a form', async () => {
  const upload = request(`${gateway.url}/v2/uploads/id?signature=s`, { method: 'PUT' });
  const answered = once(upload, 'response') as Promise<[IncomingMessage]>;
  upload.write('a');
  await untilCut('content-length: 1000');
  upload.end('b');
  expect((await answered)[0].resume().statusCode).toBe(200);
});
