import { afterAll, beforeAll, expect, it } from 'vitest';
import { startConsole, type TestConsole } from './start-console.ts';

let running: TestConsole;
beforeAll(async () => {
  running = await startConsole();
});
afterAll(() => running?.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(running.url + path, { headers, redirect: 'manual' });

it('lets pages run their own script files alone, and load and ask nothing elsewhere', async () => {
  const policies: string[] = [];
  for (const path of ['/', '/w/abc/runs', '/signed-out?reason=x']) {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-frame-options')).toBe('DENY');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    const policy = answer.headers.get('content-security-policy')!;
    const nonce = /'nonce-([\w-]+)'/.exec(policy)?.[1];
    expect(await answer.text()).toContain(`content="${nonce}"`);
    policies.push(policy);
  }
  expect(new Set(policies).size).toBe(3);
  const rules = Object.fromEntries(policies[0]!.split('; ').map((rule) => rule.split(/ (.*)/s).slice(0, 2)));
  expect(rules).toMatchObject({
    'default-src': "'none'",
    'script-src': "'self'",
    'connect-src': "'self'",
    'frame-ancestors': "'none'",
    'base-uri': "'none'",
    'require-trusted-types-for': "'script'",
  });
  expect(policies[0]).not.toContain('unsafe');
});

it('keeps files whose names change with their content, and sends them compressed', async () => {
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(await (await get('/')).text())![1]!;
  const answer = await get(script, { 'accept-encoding': 'gzip' });
  expect(answer.headers.get('content-encoding')).toBe('gzip');
  expect(answer.headers.get('cache-control')).toContain('immutable');
  expect(answer.headers.get('content-type')).toContain('text/javascript');
  const again = await get(script, { 'if-none-match': answer.headers.get('etag')! });
  expect(again.status).toBe(304);
  expect((await answer.text()).length).toBeGreaterThan(100_000);
});

it('answers a file that is not there with 404, never with a page', async () => {
  for (const path of [
    '/assets/gone-123.js',
    '/favicon.ico',
    '/../package.json',
    '/%2e%2e/package.json',
    '/index.html',
    '/internal/routes',
    '/v2/deployments',
  ])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  expect((await fetch(`${running.url}/`, { method: 'POST' })).status).toBe(404);
});
