import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { projectRequestOf } from './project-request.ts';

const urlOf = (headers: Record<string, string>) =>
  projectRequestOf({ method: 'GET', url: '/threads/search?x=1', headers, rawHeaders: [] } as never as IncomingMessage)
    .url;

it('the path that a handler of the project sees is the one that was asked for, whatever the client says of the host', () => {
  expect(urlOf({ host: 'example.com:8080' })).toBe('http://example.com:8080/threads/search?x=1');
  expect(urlOf({ host: '[::1]:2024', 'x-forwarded-proto': 'https' })).toBe('https://[::1]:2024/threads/search?x=1');
  const behind = { 'x-forwarded-host': 'a.example, b.example', 'x-forwarded-prefix': '/deployments/d-1' };
  expect(urlOf({ ...behind, host: 'inner' })).toBe('http://a.example/deployments/d-1/threads/search?x=1');
  const hosts = ['a/public?', 'a/public', 'a#', 'a?x', 'u@a', 'a\\public', '%61', 'a b', '', ':80', 'a:80/public?'];
  const urls = hosts.flatMap((host) => [urlOf({ host }), urlOf({ host: 'b', 'x-forwarded-host': host || '?' })]);
  expect(new Set(urls)).toEqual(new Set(['http://localhost/threads/search?x=1']));
  const long = '/a'.repeat(4_000_000);
  for (const prefix of ['/public?', '/public#', 'public', '/a\\b', '//evil', '/a/', '/', `${long}?`])
    expect(urlOf({ host: 'a', 'x-forwarded-prefix': prefix })).toBe('http://a/threads/search?x=1');
  expect(urlOf({ host: 'a', 'x-forwarded-proto': 'http://b/public?' })).toBe('http://a/threads/search?x=1');
});
