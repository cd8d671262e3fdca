import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { sendStream } from './send-stream.ts';

/** Starts a server that answers with `send`. Returns its URL. */
async function serve(send: (res: ServerResponse) => Promise<void>): Promise<string> {
  const server = createServer((_, res) => void send(res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('a body is sent whole, and closed then', async () => {
  const archive = Readable.from([Buffer.from('one '), Buffer.from('two')], { objectMode: false });
  let listeners = 0;
  const url = await serve((res) => {
    const sending = sendStream(archive, res);
    listeners = res.listenerCount('close');
    return sending;
  });
  expect(await (await fetch(url)).text()).toBe('one two');
  expect(archive.destroyed).toBe(true);
  // A service has four of its own, and Node warns of more than ten.
  expect(listeners).toBeLessThanOrEqual(6);
});

it('a body that breaks off breaks the connection, so that nobody takes it for a whole one', async () => {
  const archive = new PassThrough();
  archive.write('one ');
  const url = await serve((res) => {
    setTimeout(() => archive.destroy(new Error('the disk is gone')), 10);
    return sendStream(archive, res);
  });
  await expect(fetch(url).then((answer) => answer.text())).rejects.toThrow();
});

it('a body whose reader is gone is closed', async () => {
  const archive = new PassThrough();
  archive.write('one ');
  let sending: Promise<void> | undefined;
  const url = await serve((res) => {
    sending = sendStream(archive, res);
    return sending;
  });
  const leaving = new AbortController();
  await fetch(url, { signal: leaving.signal });
  leaving.abort();
  await sending;
  expect(archive.destroyed).toBe(true);
});

it('a body whose reader has left before it begins is closed', async () => {
  const archive = new PassThrough();
  let sending: Promise<void> | undefined;
  const url = await serve((res) => {
    res.destroy();
    sending = sendStream(archive, res);
    return sending;
  });
  await expect(fetch(url)).rejects.toThrow();
  await sending;
  expect(archive.destroyed).toBe(true);
});
