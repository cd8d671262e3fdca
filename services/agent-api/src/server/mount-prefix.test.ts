import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { serveBelow } from './mount-prefix.ts';

const server = createServer();
afterEach(() => new Promise((resolve) => server.close(resolve)));

async function ok(prefix: string | undefined): Promise<{ status: number; reported: string | null }> {
  server.removeAllListeners('request').on(
    'request',
    serveBelow(prefix, (_req, res) => res.end('{}')),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { status, headers } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/ok?check_db=1`);
  return { status, reported: headers.get('x-runyard-mount-prefix') };
}

it('a server reports at /ok which path it serves everything under', async () => {
  expect(await ok('/agents')).toEqual({ status: 200, reported: '/agents' });
});

it.each([undefined, '/a/../b', '/a//b', '/日本'])('a server with the prefix %j reports none', async (prefix) => {
  expect(await ok(prefix)).toEqual({ status: 200, reported: null });
});
