import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CONSOLE_URL, OWN_WRITE, PUBLIC_URL, SESSION, startConsole, type TestConsole } from './start-console.ts';

let running: TestConsole;
beforeAll(async () => {
  running = await startConsole();
});
afterAll(() => running?.close());
beforeEach(() => {
  running.endedSessions.length = 0;
  running.codes.clear();
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(running.url + path, { headers, redirect: 'manual' });

/** Begins a sign-in. @returns the browser's cookie, and what the platform's page was asked */
async function begin(returnTo = '/w/1/runs?status=error') {
  const answer = await get(`/auth/start?return_to=${encodeURIComponent(returnTo)}`);
  expect(answer.status).toBe(303);
  const location = new URL(answer.headers.get('location')!);
  const [cookie] = answer.headers.getSetCookie();
  const { state, code_challenge: challenge } = Object.fromEntries(location.searchParams) as Record<string, string>;
  return { location, setCookie: cookie!, cookie: cookie!.split(';')[0]!, state: state!, challenge: challenge! };
}

const finish = (code: string, state: string, cookie: string) =>
  get(`/auth/callback?${new URLSearchParams({ code, state })}`, { cookie });

describe('a sign-in', () => {
  it('leads to the platform, and back to the page where it began', async () => {
    const begun = await begin();
    expect(begun.location.origin + begun.location.pathname).toBe(`${PUBLIC_URL}/auth/console`);
    expect(begun.setCookie).toMatch(
      /^__Host-runyard_console_sign_in=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/,
    );
    running.codes.set('code-1', begun.challenge);
    const answer = await finish('code-1', begun.state, begun.cookie);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/w/1/runs?status=error']);
    const [session, cleared] = answer.headers.getSetCookie();
    expect(session).toMatch(
      new RegExp(
        `^__Host-runyard_console=${SESSION}; Path=/; HttpOnly; SameSite=Strict; Max-Age=(35\\d\\d|3600); Secure$`,
      ),
    );
    expect(cleared).toMatch(/^__Host-runyard_console_sign_in=; .*Max-Age=0/);
  });

  it('of another browser signs nobody in', async () => {
    const [mine, theirs] = [await begin(), await begin()];
    running.codes.set('code-2', theirs.challenge);
    for (const [state, cookie] of [
      [theirs.state, mine.cookie],
      [mine.state, ''],
      ['', mine.cookie],
    ]) {
      const answer = await finish('code-2', state!, cookie!);
      expect(answer.headers.get('location')).toBe('/signed-out?reason=sign-in-failed');
      expect(answer.headers.getSetCookie().join()).not.toContain(SESSION);
    }
    // With the state of the one and the secret of the other.
    const answer = await finish('code-2', mine.state, mine.cookie);
    expect(answer.headers.get('location')).toBe('/signed-out?reason=sign-in-failed');
  });

  it('leads to no other site', async () => {
    for (const returnTo of ['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '']) {
      const begun = await begin(returnTo);
      running.codes.set('code-3', begun.challenge);
      const answer = await finish('code-3', begun.state, begun.cookie);
      expect(answer.headers.get('location')).toBe('/');
    }
  });

  it('with a cookie of nonsense begins anew', async () => {
    for (const value of [
      'x',
      Buffer.from('null').toString('base64url'),
      Buffer.from('{"state":1}').toString('base64url'),
    ]) {
      const answer = await finish('code', 'state', `__Host-runyard_console_sign_in=${value}`);
      expect(answer.headers.get('location')).toBe('/signed-out?reason=sign-in-failed');
    }
  });
});

describe('signing out', () => {
  it('ends the session, and says where the browser signs out elsewhere', async () => {
    const answer = await fetch(`${running.url}/auth/sign-out`, { method: 'POST', headers: OWN_WRITE });
    expect(await answer.json()).toEqual({ logout_url: 'https://login.example/out' });
    expect(answer.headers.getSetCookie()[0]).toMatch(/^__Host-runyard_console=; .*Max-Age=0/);
    expect(running.endedSessions).toEqual([SESSION]);
  });

  it('is no page’s of another site to ask for', async () => {
    for (const headers of [
      { ...OWN_WRITE, origin: PUBLIC_URL },
      { ...OWN_WRITE, 'sec-fetch-site': 'same-site' },
      { ...OWN_WRITE, 'sec-fetch-dest': 'document' },
      { cookie: OWN_WRITE.cookie, origin: CONSOLE_URL },
    ]) {
      const answer = await fetch(`${running.url}/auth/sign-out`, { method: 'POST', headers });
      expect(answer.status).toBe(403);
    }
    expect(running.endedSessions).toEqual([]);
  });
});

it('tells a page whether its browser has a session', async () => {
  expect(await (await get('/auth/session')).json()).toEqual({ is_signed_in: false });
  expect(await (await get('/auth/session', { cookie: OWN_WRITE.cookie })).json()).toEqual({ is_signed_in: true });
  // A cookie that a neighbour of the domain has set makes it unknown whose is whose.
  const twice = `${OWN_WRITE.cookie}; __Host-runyard_console=rys_ooooooooooooooooooooooooooooooooooooooooooo`;
  expect(await (await get('/auth/session', { cookie: twice })).json()).toEqual({ is_signed_in: false });
});
