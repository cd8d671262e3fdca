import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RequestAdmission, silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { ThreadAccess } from '../threads/thread-access.ts';
import type { EventSources } from './event-follower.ts';
import { ProtocolSocket } from './protocol-socket.ts';
import { ReceivedBytes } from './received-bytes.ts';

const server = createServer();
let webSockets: WebSocketServer;
let admission: RequestAdmission;
let client: WebSocket;
let served: WebSocket;
/** The commands that are being executed, and the functions that end them. */
const executing: (() => void)[] = [];
/** Bytes that the process may hold of all that clients send. */
const BODY_BYTES = 36 * 1024 * 1024;
/** Bytes of the messages that came over the websocket. */
let received = 0;
/** Questions about subscriptions, and streams that were read for them. */
let asked = 0;
let read = 0;

beforeEach(async () => {
  server.listen(0);
  await once(server, 'listening');
  webSockets = new WebSocketServer({ server });
  admission = new RequestAdmission({ requestsInFlight: 100, bodyBytesInFlight: BODY_BYTES });
  ({ client, served } = await connect());
  received = 0;
  served.on('message', (data: Buffer) => {
    received += data.length;
  });
});

function readStream(): never[] {
  read += 1;
  return [];
}

async function connect(): Promise<{ client: WebSocket; served: WebSocket }> {
  const connected = once(webSockets, 'connection') as Promise<[WebSocket, IncomingMessage]>;
  const connecting = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const opened = once(connecting, 'open');
  const [socket, { socket: connection }] = await connected;
  admission.enter(connection);
  new ProtocolSocket({
    socket,
    received: new ReceivedBytes(connection, socket),
    threadId: 't',
    sources: { streams: { read: readStream } } as unknown as EventSources,
    scope: async () => {
      asked += 1;
      return [{}];
    },
    access: () => ({}) as ThreadAccess,
    execute: ({ id }) => new Promise((resolve) => executing.push(() => resolve({ type: 'success', id }))),
    logger: silentLogger,
  });
  await opened;
  return { client: connecting, served: socket };
}

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

const heldBytes = (bytes: number) =>
  waitFor(() => admission.bodyBytesInFlight === bytes, { what: `${bytes} bytes being held` });
/** A masked frame of more than 64 KiB has so many bytes before its payload. */
const HEAD_BYTES = 14;

it('half a message and waiting commands count as body bytes of the process until they are executed, and no more', async () => {
  const command = JSON.stringify({ id: 1, method: 'state.get', params: { filler: 'x'.repeat(100_000) } });
  client.send(command.slice(0, 70_000), { fin: false });
  await heldBytes(70_000 + HEAD_BYTES);
  client.ping('still here');
  client.send(command.slice(70_000));
  await waitFor(() => executing.length === 1, { what: 'the command being executed' });
  // The head of a second frame cannot be told from the beginning of the next message.
  expect(admission.bodyBytesInFlight - command.length).toBeLessThan(50);
  client.send('{"id":2,"method":"state.get"}');
  for (let count = 0; count < 100; count += 1) client.ping('still here');
  const answered = once(client, 'message');
  executing.shift()!();
  await answered;
  await waitFor(() => executing.length === 1, { what: 'the second command being executed' });
  executing.shift()!();
  await heldBytes(0);
});

it('a websocket whose half message finds no room beside those of others is closed to be tried again later, and read no further', async () => {
  const half = 'x'.repeat(10 * 1024 * 1024);
  const others = [await connect(), await connect(), await connect()];
  for (const other of others) other.client.send(half, { fin: false });
  await heldBytes(others.length * (half.length + HEAD_BYTES));
  const closed = once(client, 'close');
  client.send(half, { fin: false });
  client.send(half);
  expect(await closed).toEqual([1013, Buffer.from('too much is being received at the moment')]);
  await heldBytes(others.length * (half.length + HEAD_BYTES));
  expect(received).toBe(0);
  for (const other of others) other.client.terminate();
  await heldBytes(0);
});

it('a subscription that comes as its websocket ends is not followed', async () => {
  [asked, read] = [0, 0];
  client.send(JSON.stringify({ id: 1, method: 'state.get' }));
  client.send(JSON.stringify({ id: 2, method: 'subscription.subscribe', params: { channels: ['values'] } }));
  await waitFor(() => executing.length === 1, { what: 'the command before it being executed' });
  const closed = once(served, 'close');
  client.terminate();
  await closed;
  executing.shift()!();
  await waitFor(() => asked === 1, { what: 'the question about the subscription' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(read).toBe(0);
});
