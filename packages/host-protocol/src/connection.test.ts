import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HostConnection, type Incoming, RemoteError } from './connection.ts';
import { checksAtParent } from './messages/checks.ts';

let parent: HostConnection;
let host: HostConnection;
let hostSocket: Socket;
let atParent: Incoming[];
let closed: string[];
let faults: string[];
let answer: (message: Incoming) => void;

beforeEach(async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  hostSocket = connect((server.address() as { port: number }).port, '127.0.0.1');
  const [parentSocket] = (await once(server, 'connection')) as [Socket];
  server.close();
  atParent = [];
  closed = [];
  faults = [];
  answer = () => {};
  host = new HostConnection({
    socket: hostSocket,
    onMessage: (message) => answer(message),
    onClose: () => {},
  });
  parent = new HostConnection({
    socket: parentSocket,
    checks: checksAtParent(),
    onMessage: (message) => atParent.push(message),
    onClose: (reason, fault) => {
      closed.push(reason);
      if (fault !== undefined) faults.push(fault);
    },
  });
});

afterEach(() => {
  parent.close('test ended');
  host.close('test ended');
});

it('a connection matches answers to their requests, with raw bytes', async () => {
  answer = ({ header }) => {
    const isPing = header.t === 'ping';
    host.answer(0, header.id as number, isPing ? null : 3, [Buffer.from(isPing ? '' : 'raw')]);
  };
  const encrypt = { t: 'encryption.encrypt', source: { file: '/a.ts', symbol: 'default' }, metadata: {} };
  const [ping, encrypted] = await Promise.all([parent.request(0, { t: 'ping' }), parent.request(1, encrypt)]);
  expect(ping.ok).toBeNull();
  expect(encrypted.ok).toBe(3);
  expect(encrypted.raw.toString()).toBe('raw');
});

it('a parent answers an unknown request with `unsupported`, and an ill-formed one with `invalid`', async () => {
  await expect(host.request(0, { t: 'graph.teleport' })).rejects.toMatchObject({ kind: 'unsupported' });
  await expect(host.request(0, { t: 'checkpoint.get', use: 'one' })).rejects.toMatchObject({ kind: 'invalid' });
  const operations = [{ kind: 'get', namespace: ['a', 5], key: 'k' }];
  await expect(host.request(0, { t: 'store.batch', use: 1, operations })).rejects.toMatchObject({
    kind: 'invalid',
    message: expect.stringContaining('/operations/0'),
  });
  expect(atParent).toEqual([]);
});

it('a parent takes no answer of a form that the request does not have', async () => {
  answer = ({ header }) => host.answer(0, header.id as number, { kind: 'allowed' });
  const source = { file: '/auth.ts', symbol: 'auth' };
  const asked = parent.request(0, { t: 'auth.authorize', source, request: {} });
  await expect(asked).rejects.toMatchObject({ kind: 'invalid', name: 'ProtocolError' });
});

const settled = { t: 'run.settled', use: 1, kind: 'done', valuesBytes: null, interruptsBytes: null };

it.each([
  { ...settled, next: 'model' },
  { ...settled, id: 7, kind: null },
  { t: 'run.begun' },
  { t: 'run.events', use: 1, events: [['values', 5, 1]] },
  { t: 'hello', protocol: 'one', language: 'javascript', runtime: 'node' },
  { t: 'checkpoint.deleteThread', id: 'one', use: 1, threadId: 't' },
  { t: 'answer', id: 'one', ok: null },
])('a parent ends the connection at %j, which nobody could be told of', async (header) => {
  host.send(0, header);
  await waitFor(() => expect(faults).toHaveLength(1));
  expect(faults[0]).toContain(`sent what is not the protocol: ${header.t} does not have the expected form`);
  expect(atParent).toEqual([]);
});

it('a parent drops lines of output and spans that are ill-formed, and goes on', async () => {
  host.send(0, { t: 'log', level: 'info', message: { not: 'a text' } });
  host.send(0, { t: 'run.spans', use: 1, spans: [{}] });
  host.send(0, settled);
  await waitFor(() => expect(atParent.map(({ header }) => header.t)).toEqual(['run.settled']));
});

it('a parent answers an unknown request only where it can be matched', async () => {
  const answerError = vi.spyOn(parent, 'answerError');
  host.send(0, { t: 'graph.teleport', id: { not: 'a number' } });
  host.send(0, { t: 'graph.teleport', id: 41, use: { not: 'a number' } });
  host.send(0, settled);
  await waitFor(() => expect(atParent).toHaveLength(1));
  expect(answerError.mock.calls).toEqual([[0, 41, expect.objectContaining({ kind: 'unsupported' })]]);
});

it('a host that does not know a request says so', async () => {
  answer = ({ header }) => host.refuseUnknown(header);
  await expect(parent.request(0, { t: 'ping' })).rejects.toMatchObject({ kind: 'unsupported' });
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
