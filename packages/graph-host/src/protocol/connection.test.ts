import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HostConnection, type Incoming, RemoteError } from './connection.ts';
import { checksAtHost, checksAtParent } from './messages.ts';

let parent: HostConnection;
let host: HostConnection;
let hostSocket: Socket;
let received: Incoming[];
let closed: string[];
let answer: (message: Incoming) => void;

beforeEach(async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  hostSocket = connect((server.address() as { port: number }).port, '127.0.0.1');
  const [parentSocket] = (await once(server, 'connection')) as [Socket];
  server.close();
  received = [];
  closed = [];
  answer = () => {};
  host = new HostConnection({
    socket: hostSocket,
    checks: checksAtHost(),
    onMessage: (message) => {
      received.push(message);
      answer(message);
    },
    onClose: () => {},
  });
  parent = new HostConnection({
    socket: parentSocket,
    checks: checksAtParent(),
    onMessage: () => {},
    onClose: (reason) => closed.push(reason),
  });
});

afterEach(() => {
  parent.close('test ended');
  host.close('test ended');
});

it('a connection matches answers to their requests, with raw bytes', async () => {
  answer = ({ header }) => host.answer(0, header.id as number, { for: header.t }, [Buffer.from('raw')]);
  const [ping, shutdown] = await Promise.all([parent.request(0, { t: 'ping' }), parent.request(1, { t: 'shutdown' })]);
  expect(ping.ok).toEqual({ for: 'ping' });
  expect(shutdown.ok).toEqual({ for: 'shutdown' });
  expect(shutdown.raw.toString()).toBe('raw');
});

it('a connection answers an unknown request with `unsupported`, and an ill-formed one with `invalid`', async () => {
  await expect(parent.request(0, { t: 'graph.teleport' })).rejects.toMatchObject({ kind: 'unsupported' });
  await expect(parent.request(0, { t: 'state.get', use: 'one' })).rejects.toMatchObject({ kind: 'invalid' });
  expect(received).toEqual([]);
});

it('a connection rejects open requests when the other side closes it', async () => {
  const request = parent.request(0, { t: 'ping' });
  hostSocket.destroy();
  await expect(request).rejects.toBeInstanceOf(RemoteError);
  await expect(parent.request(0, { t: 'ping' })).rejects.toMatchObject({ kind: 'gone' });
});

it('a connection closes on bytes that are not the protocol', async () => {
  const gone = once(hostSocket, 'close');
  hostSocket.write('GET / HTTP/1.1\r\n\r\n');
  await gone;
  expect(closed[0]).toMatch(/not the protocol/);
});
