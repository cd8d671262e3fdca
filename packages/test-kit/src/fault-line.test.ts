import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { FaultLine } from './fault-line.ts';

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

/** Starts an echo server, and a line to it. */
async function echoLine(): Promise<FaultLine> {
  const server = createServer((socket) => void socket.on('error', () => undefined).pipe(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const line = await FaultLine.to(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`);
  closings.push(
    () => line.close(),
    () => server.close(),
  );
  return line;
}

async function connected(line: FaultLine): Promise<Socket> {
  const socket = connect(Number(new URL(line.url).port), '127.0.0.1');
  closings.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const said = async (socket: Socket) => String((await once(socket, 'data'))[0]);

test('data over a line without faults comes back', async () => {
  const socket = await connected(await echoLine());
  socket.write('hello');
  expect(await said(socket)).toBe('hello');
});

test('a line that refuses cuts open connections and accepts none until it heals, on the same port', async () => {
  const line = await echoLine();
  const socket = await connected(line);
  const failed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  await line.refuse();
  await failed;
  await expect(connected(line)).rejects.toThrow('ECONNREFUSED');
  await line.heal();
  const again = await connected(line);
  again.write('back');
  expect(await said(again)).toBe('back');
});

test('data that a partition swallowed arrives when it heals, and so does the end', async () => {
  const line = await echoLine();
  const socket = await connected(line);
  socket.write('one');
  expect(await said(socket)).toBe('one');
  line.partition('down');
  socket.end('two');
  let isTold = false;
  socket.once('data', () => {
    isTold = true;
  });
  const other = await connected(await echoLine());
  other.write('as long as a way there and back');
  await said(other);
  expect(isTold).toBe(false);
  await line.heal();
  await once(socket, 'end');
  expect(isTold).toBe(true);
});

test('a reset reaches both ends, and the next connection works', async () => {
  const line = await echoLine();
  const socket = await connected(line);
  socket.write('one');
  await said(socket);
  const failed = new Promise((resolve) => socket.once('error', resolve));
  line.reset();
  expect(await failed).toMatchObject({ code: 'ECONNRESET' });
  const again = await connected(line);
  again.write('back');
  expect(await said(again)).toBe('back');
});
