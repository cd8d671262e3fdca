import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { EventSources } from './follow-events.ts';
import { ProtocolSocket } from './protocol-socket.ts';
import type { ThreadAccess } from './thread-access.ts';

const server = createServer();
let webSockets: WebSocketServer;
let client: WebSocket;
let served: WebSocket;
/** The commands that are being executed, and the functions that end them. */
const executing: (() => void)[] = [];
/** Bytes of the messages that came over the websocket. */
let received = 0;

beforeEach(async () => {
  server.listen(0);
  await once(server, 'listening');
  webSockets = new WebSocketServer({ server });
  const connected = once(webSockets, 'connection') as Promise<[WebSocket]>;
  client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  [served] = await connected;
  received = 0;
  served.on('message', (data: Buffer) => {
    received += data.length;
  });
  new ProtocolSocket({
    socket: served,
    threadId: 't',
    sources: {} as EventSources,
    scope: async () => [{}],
    access: () => ({}) as ThreadAccess,
    execute: ({ id }) => new Promise((resolve) => executing.push(() => resolve({ type: 'success', id }))),
    logger: silentLogger,
  });
  await once(client, 'open');
});

afterEach(() => {
  client.terminate();
  webSockets.close();
  server.close();
});

it('a client that sends large commands faster than they are executed is read no further, and each is answered in the end', async () => {
  const answers: number[] = [];
  client.on('message', (data) => answers.push((JSON.parse(String(data)) as { id: number }).id));
  const filler = 'x'.repeat(1024 * 1024);
  const ids = Array.from({ length: 40 }, (_, index) => index);
  for (const id of ids) client.send(JSON.stringify({ id, method: 'state.get', params: { filler } }));
  await waitFor(() => served.isPaused || client.bufferedAmount === 0, { what: 'the client being stopped' });
  expect(received).toBeLessThan(32 * 1024 * 1024);
  for (const id of ids) {
    await waitFor(() => executing.length > 0, { what: `command ${id} being executed` });
    executing.shift()!();
  }
  await waitFor(() => answers.length === ids.length, { what: 'all answers' });
  expect(answers).toEqual(ids);
});
