import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { waitFor } from '@runyard/test-kit';
import { afterEach, expect, it } from 'vitest';
import { LiveResponse } from './live-response.ts';

let server: Server;
let client: Socket;
afterEach(() => {
  client.destroy();
  server.close();
});

/** A client that has sent a request and reads nothing of the answer. */
async function unread(handler: RequestListener): Promise<void> {
  server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined).pause();
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
}

const MEGABYTE = 'x'.repeat(1024 * 1024);

it('writing waits for a client that does not read, and one that reads nothing for too long is cut', async () => {
  let response: LiveResponse | undefined;
  let written = 0;
  let isEnded = false;
  await unread(async (_req, res) => {
    response = new LiveResponse(res, {}, { heartbeat: ':', stalledMs: 300 });
    while (!response.closed.aborted) {
      await response.write(MEGABYTE);
      written += 1;
    }
    isEnded = true;
  });
  await waitFor(() => isEnded, { what: 'the answer to be cut' });
  expect(response!.wasStalled).toBe(true);
  expect(response!.wasAbandoned).toBe(true);
  expect(written).toBeLessThan(32);
});

it('a quiet answer is not cut: nothing waits for its client', async () => {
  let response: LiveResponse | undefined;
  let hasTimedOut = false;
  await unread((_req, res) => {
    response = new LiveResponse(res, {}, { heartbeat: ':', stalledMs: 50 });
    res.once('timeout', () => {
      hasTimedOut = true;
    });
  });
  await waitFor(() => hasTimedOut, { what: 'the time to have passed' });
  expect(response!.closed.aborted).toBe(false);
  response!.end();
});
