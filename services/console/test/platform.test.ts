import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { ADDRESS_PROOF_HEADER, clientAddressHeaders } from '@runyard/service-kit';
import { INTERNAL_TOKEN, readRequestBody, sendJson } from '@runyard/test-kit/fake-platform';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OWN_SCRIPT, OWN_WRITE, PUBLIC_URL, startConsole, type TestConsole } from './start-console.ts';

const WORKSPACE = '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001';
let running: TestConsole;
let seen: { url: string; headers: IncomingHttpHeaders; body: string }[] = [];

beforeAll(async () => {
  running = await startConsole();
});
afterAll(() => running?.close());
beforeEach(() => {
  seen = [];
  running.endedSessions.length = 0;
  running.gateway.handle = async (req: IncomingMessage, res: ServerResponse) => {
    seen.push({ url: req.url!, headers: req.headers, body: (await readRequestBody(req)).toString() });
    sendJson(res, 200, { ok: true });
  };
});

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${running.url}/platform${path}`, { headers: OWN_SCRIPT, redirect: 'manual', ...init });

describe('a request of a page', () => {
  it('reaches the platform with the rights of its person, and never with the cookie', async () => {
    const headers = { ...OWN_WRITE, 'content-type': 'application/json', 'x-tenant-id': WORKSPACE, 'x-api-key': 'mine' };
    const answer = await ask('/v2/runs/search?a=1', { method: 'POST', headers, body: '{"limit":1}' });
    expect(await answer.json()).toEqual({ ok: true });
    const [{ url, headers: passed, body }] = seen as [(typeof seen)[number]];
    expect([url, body]).toEqual(['/v2/runs/search?a=1', '{"limit":1}']);
    expect(passed).toMatchObject({ 'x-tenant-id': WORKSPACE, 'content-type': 'application/json' });
    expect(passed.authorization).toMatch(/^Bearer access-\d+$/);
    expect([passed.cookie, passed['x-api-key'], passed.origin]).toEqual([undefined, undefined, undefined]);
  });

  it('shares one access token with those beside it', async () => {
    const before = running.accessTokens();
    await Promise.all(Array.from({ length: 8 }, () => ask('/v2/deployments')));
    expect(running.accessTokens() - before).toBeLessThanOrEqual(1);
  });

  it('is none that another page asked for, or that would be shown as a page', async () => {
    const foreign: Record<string, string>[] = [
      { ...OWN_SCRIPT, 'sec-fetch-site': 'cross-site' },
      { ...OWN_SCRIPT, 'sec-fetch-site': 'same-site' },
      { ...OWN_SCRIPT, 'sec-fetch-site': 'none' },
      { ...OWN_SCRIPT, 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' },
      { ...OWN_SCRIPT, 'sec-fetch-dest': 'script' },
      { ...OWN_SCRIPT, 'sec-fetch-dest': 'iframe' },
      { ...OWN_SCRIPT, origin: PUBLIC_URL },
      { cookie: OWN_SCRIPT.cookie },
    ];
    for (const headers of foreign) expect((await ask('/v2/deployments', { headers })).status).toBe(403);
    // Old browsers send no Origin with a form.
    const withoutOrigin = await ask('/v2/deployments', { method: 'POST', headers: OWN_SCRIPT, body: '{}' });
    expect(withoutOrigin.status).toBe(403);
    expect(seen).toEqual([]);
  });

  it('without a session, or with one that has ended, is refused with 401', async () => {
    const { cookie, ...stranger } = OWN_SCRIPT;
    expect((await ask('/v2/deployments', { headers: stranger })).status).toBe(401);
    const other = { ...stranger, cookie: `${cookie.slice(0, -1)}x` };
    expect((await ask('/v2/deployments', { headers: other })).status).toBe(401);
    expect(seen).toEqual([]);
  });

  it('reaches neither sign-in pages, nor what would give a script the secrets of a session', async () => {
    for (const path of [
      '/auth/authorize',
      '/login',
      '/oauth/token',
      '/internal/bootstrap',
      '/metrics',
      '/api/v1/sessions/current/access-token',
      '/api/v1/sessions/current/refresh',
      '/deployments',
      '/v2/%2e%2e/internal/bootstrap',
      '',
    ])
      expect([path, (await ask(path, { method: 'POST', headers: OWN_WRITE })).status]).toEqual([path, 404]);
    expect(seen).toEqual([]);
  });

  it('counts to the address of its browser, as the gateway has told it', async () => {
    await ask('/v2/deployments', {
      headers: { ...OWN_SCRIPT, ...clientAddressHeaders(INTERNAL_TOKEN, '203.0.113.9') },
    });
    await ask('/v2/deployments', {
      headers: { ...OWN_SCRIPT, 'x-forwarded-for': '203.0.113.9', [ADDRESS_PROOF_HEADER]: 'a guess' },
    });
    const told = seen.map(({ headers }) => [headers['x-forwarded-for'], headers[ADDRESS_PROOF_HEADER] !== undefined]);
    expect(told).toEqual([
      ['203.0.113.9', true],
      [undefined, false],
    ]);
  });
});

describe('an answer', () => {
  it('of a project sets nothing at the console, and is shown as no page of it', async () => {
    running.gateway.handle = (_req, res) =>
      res
        .writeHead(200, {
          'content-type': 'text/html',
          'set-cookie': '__Host-runyard_console=rys_evil; Path=/; Secure',
          'clear-site-data': '"*"',
          'content-security-policy': "default-src *; script-src * 'unsafe-inline'",
          'service-worker-allowed': '/',
          'access-control-allow-origin': '*',
          'x-pagination-total': '7',
        })
        .end('<script>alert(1)</script>');
    const answer = await ask('/deployments/d/page');
    const headers = Object.fromEntries(answer.headers);
    expect(headers).toMatchObject({
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'x-pagination-total': '7',
    });
    for (const name of ['set-cookie', 'clear-site-data', 'service-worker-allowed', 'access-control-allow-origin'])
      expect(headers).not.toHaveProperty(name);
  });

  it('that leads elsewhere is not followed', async () => {
    running.gateway.handle = (_req, res) => res.writeHead(302, { location: 'http://127.0.0.1/secret' }).end();
    expect((await ask('/deployments/d/away')).status).toBe(502);
  });

  it('comes as it is made, and ends when its browser leaves', async () => {
    let closed: Promise<unknown> | undefined;
    running.gateway.handle = (_req, res) => {
      closed = once(res, 'close');
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    };
    const leaving = new AbortController();
    const answer = await ask('/deployments/d/stream', { signal: leaving.signal });
    const { value } = await answer.body!.getReader().read();
    expect(new TextDecoder().decode(value)).toBe('data: 1\n\n');
    leaving.abort();
    await closed;
  });

  it('of a platform that is away is 503, and of one that breaks off is cut', async () => {
    running.gateway.handle = (req) => req.socket.destroy();
    expect((await ask('/v2/deployments')).status).toBe(503);
    running.gateway.handle = (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' }).write('{"half":');
      setImmediate(() => res.destroy());
    };
    const answer = await ask('/v2/deployments');
    await expect(answer.text()).rejects.toThrow();
  });
});
