import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { LocalRequests } from './local-requests.ts';

const rule = new LocalRequests({
  origins: ['https://app.example', 'chrome-extension://abc'],
  projectUsers: undefined,
  isOfOtherDeployment: (host) => host === 'other.localhost',
});

type Headers = Record<string, string>;

/** Says what becomes of a request without credentials, with these headers beside a good `Host`. */
async function verdictOn(headers: Headers, peer = '127.0.0.1', httpVersion = '1.1'): Promise<'let in' | 401 | 403> {
  const all: Headers = { host: '127.0.0.1:2024', ...headers };
  const rawHeaders = Object.entries(all).flat();
  const req = {
    headers: all,
    rawHeaders,
    socket: { remoteAddress: peer, localPort: 2024 },
    httpVersion,
  } as unknown as IncomingMessage;
  return rule.require(req).then(
    () => 'let in' as const,
    (error: { status: 401 | 403 }) => error.status,
  );
}

const LOCAL_HOSTS = ['127.0.0.1', 'localhost', 'LOCALHOST:2024', 'localhost.:2024', '[::1]:2024', '127.0.0.2:9'];
const OTHER_HOSTS = [
  'evil.example',
  'evil.example:2024',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'localhost@evil.example',
  'evil-localhost',
  '0.0.0.0:2024',
  '[::]:2024',
  '192.168.1.5:2024',
  'host.docker.internal:2024',
  '127.0.0.1, evil.example',
  '',
];
const ALLOWED_ORIGINS = [
  'http://localhost:3000',
  'https://localhost',
  'http://127.0.0.1:2024',
  'http://[::1]:8080',
  'http://app.localhost:5173',
  'http://other.localhost:5173',
  'http://mine.localhost:2024',
  'https://smith.langchain.com',
  'https://eu.smith.langchain.com',
  'https://app.example',
  'chrome-extension://abc',
];
const OTHER_ORIGINS = [
  'null',
  '',
  'https://evil.example',
  'http://smith.langchain.com',
  'https://smith.langchain.com.evil.example',
  'https://evil.smith.langchain.com',
  'https://smith.langchain.com:444',
  'http://app.example',
  'https://sub.app.example',
  'http://localhost.evil.example',
  'http://127.0.0.1.evil.example',
  'http://localhost@evil.example',
  'http://localhost:3000/path',
  'http://localhost:3000, https://evil.example',
  'file://localhost',
  'chrome-extension://other',
  'chrome-extension://localhost',
  'http://0.0.0.0:3000',
  'http://192.168.1.5:3000',
  'http://other.localhost:2024',
];
const SITES = [undefined, 'same-origin', 'same-site', 'cross-site', 'none'];

const siteOf = (site: string | undefined): Headers => (site === undefined ? {} : { 'sec-fetch-site': site });

it('a program of this machine needs no key, whichever of its names it asks', async () => {
  for (const host of LOCAL_HOSTS) expect([host, await verdictOn({ host })]).toEqual([host, 'let in']);
  for (const peer of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])
    expect(await verdictOn({}, peer)).toBe('let in');
});

it('a page of this machine, of Studio or of a named origin needs none, whatever its site is', async () => {
  for (const origin of ALLOWED_ORIGINS) {
    for (const site of SITES)
      expect([origin, site, await verdictOn({ origin, ...siteOf(site) })]).toEqual([origin, site, 'let in']);
  }
});

it('a page of any other origin is refused, at every host and from every site', async () => {
  for (const origin of OTHER_ORIGINS) {
    for (const site of SITES) {
      for (const host of ['127.0.0.1:2024', 'evil.example'])
        expect([origin, site, await verdictOn({ host, origin, ...siteOf(site) })]).toEqual([origin, site, 403]);
    }
  }
});

it('what a page of another site requests without an origin, as an image or a link, is refused', async () => {
  for (const site of ['cross-site', 'same-origin, cross-site', '', 'anything'])
    expect([site, await verdictOn(siteOf(site))]).toEqual([site, 403]);
  for (const site of ['same-origin', 'same-site', 'none']) expect(await verdictOn(siteOf(site))).toBe('let in');
});

it('a page that had its own name lead here is refused with the name it asks', async () => {
  for (const host of OTHER_HOSTS) {
    for (const site of ['same-origin', 'none', undefined])
      expect([host, await verdictOn({ host, ...siteOf(site) })]).toEqual([host, 401]);
  }
});

it('a request with two hosts, or none, needs a key', async () => {
  const ask = (rawHeaders: string[], headers: Headers) =>
    rule.require({ headers, rawHeaders, socket: { remoteAddress: '127.0.0.1' } } as unknown as IncomingMessage);
  await expect(ask(['Host', 'localhost', 'HOST', 'evil.example'], { host: 'localhost' })).rejects.toMatchObject({
    status: 401,
  });
  await expect(ask([], {})).rejects.toMatchObject({ status: 401 });
});

it('another machine needs a key, whatever it says it is', async () => {
  for (const peer of ['192.168.1.7', '10.0.0.1', '::ffff:10.0.0.1', 'fe80::1', ''])
    expect([peer, await verdictOn({ 'x-forwarded-for': '127.0.0.1' }, peer)]).toEqual([peer, 401]);
});

it('what a tunnel or a proxy on this machine passes on needs a key, unless it is of this machine itself', async () => {
  for (const headers of [
    { 'x-forwarded-for': '203.0.113.9' },
    { 'x-forwarded-for': '127.0.0.1, 203.0.113.9' },
    { 'x-forwarded-for': '203.0.113.9, 127.0.0.1' },
    { 'x-forwarded-for': 'unknown' },
    { 'x-real-ip': '203.0.113.9' },
    { 'x-forwarded-host': 'agent.tunnel.example' },
    { 'x-forwarded-host': 'localhost, agent.tunnel.example' },
    { forwarded: 'for=127.0.0.1' },
    { via: '1.1 proxy' },
    { 'cf-connecting-ip': '203.0.113.9' },
  ] as Headers[])
    expect([headers, await verdictOn(headers)]).toEqual([headers, 401]);
  expect(await verdictOn({ connection: 'close' }, '127.0.0.1', '1.0')).toBe(401);
  const ofDevelopmentServer = { 'x-forwarded-for': '::1, 127.0.0.1', 'x-forwarded-host': 'localhost:3000' };
  expect(await verdictOn(ofDevelopmentServer)).toBe('let in');
});
