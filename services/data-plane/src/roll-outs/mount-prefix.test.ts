import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { readMountPrefix } from './mount-prefix.ts';

const servers: Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map((each) => new Promise((resolve) => each.close(resolve)))));

async function serverThat(answer: (res: ServerResponse) => void): Promise<string> {
  const server = createServer((_req, res) => answer(res));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const reporting = (prefix: string, status = 200) =>
  serverThat((res) => res.writeHead(status, { 'x-runyard-mount-prefix': prefix }).end());
const NOBODY = 'http://127.0.0.1:1';
const { signal } = new AbortController();

it('a server reports its prefix, also while its database is unavailable', async () => {
  expect(await readMountPrefix([await reporting('/agents')], signal)).toBe('/agents');
  expect(await readMountPrefix([await reporting('/agents', 503)], signal)).toBe('/agents');
});

it('a server that reports no prefix has none, like one of an earlier release', async () => {
  expect(await readMountPrefix([await serverThat((res) => res.end('{}'))], signal)).toBeNull();
});

it.each(['/', '/a/../b', '/a//b', '/a%2fb', 'agents'])('a server that reports %j has no prefix', async (prefix) => {
  expect(await readMountPrefix([await reporting(prefix)], signal)).toBeNull();
});

it('the next server is asked when one does not answer, is starting, or redirects', async () => {
  const starting = await serverThat((res) => res.writeHead(503).end());
  const elsewhere = await serverThat((res) => res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end());
  expect(await readMountPrefix([NOBODY, starting, elsewhere], signal)).toBeUndefined();
  expect(await readMountPrefix([NOBODY, starting, await reporting('/agents')], signal)).toBe('/agents');
  expect(await readMountPrefix([], signal)).toBeUndefined();
});

it('no server is asked for a revision that is not wanted any more', async () => {
  expect(await readMountPrefix([await reporting('/agents')], AbortSignal.abort())).toBeUndefined();
});
