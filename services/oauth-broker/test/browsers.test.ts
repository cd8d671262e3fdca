import { randomUUID } from 'node:crypto';
import type { WaitResponse } from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linkIn, someone, TestBroker } from './support/broker.ts';

let broker: TestBroker;
beforeAll(async () => {
  broker = await TestBroker.start(['plain']);
  await broker.provider('plain', { name: '<b>Plain</b>' });
});
afterAll(() => broker.close());

/** The claims of a person's key, and the headers of that person's browser after a sign-in. */
function person() {
  const claims = { ...someone(), person_id: randomUUID(), kind: 'personal_token' as const };
  return { claims, browser: () => broker.platform.callers.headers({ ...claims, kind: 'session' }) };
}

describe('an authorization', () => {
  it('is begun on a page of the platform that says who asks for what, and shows no text as code', async () => {
    const asked = { user_id: '<img src=x>', scopes: ['repo', '<script>'] };
    const begun = await broker.authenticate('plain', asked, someone());
    expect(begun.url).toBe(`https://agents.example.com/v2/auth/start/${begun.auth_id}`);
    const page = await broker.open(begun.url!, { cookie: '' });
    expect(page.status).toBe(200);
    expect(page.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-runyard_oauth=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/),
    ]);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const text = await page.text();
    for (const shown of [
      '&lt;b&gt;Plain',
      '&lt;img src=x&gt;',
      'repo, &lt;script&gt;',
      new URL(broker.server.url).host,
    ])
      expect(text).toContain(shown);
    expect(text).not.toMatch(/<(script|img|b)\b/);
  });

  it('is not finished in another browser, which uses nothing up', async () => {
    const alice = someone();
    const begun = await broker.authenticate('plain', {}, alice);
    const query = await broker.consent(begun);
    for (const cookie of ['', `__Host-runyard_oauth=${'a'.repeat(43)}`, broker.cookie.replace('__Host-', '')]) {
      const page = await broker.callback('plain', query, { cookie });
      expect(page.status).toBe(400);
      expect(await page.text()).toContain('not known in this browser');
    }
    expect((await broker.callback('plain', query)).status).toBe(200);
    const { body } = await broker.call<WaitResponse>('GET', `/wait/${begun.auth_id}`, undefined, alice);
    expect(body.status).toBe('completed');
  });

  it('leads to the provider only by the link that this browser was shown for it', async () => {
    const [mine, other] = [
      await broker.authenticate('plain', { user_id: 'a' }, someone()),
      await broker.authenticate('plain', { user_id: 'b' }, someone()),
    ];
    const link = linkIn(await (await broker.open(mine.url!)).text())!;
    for (const [url, cookie] of [
      [new URL('?proof=guessed', mine.url!).href, broker.cookie],
      [new URL(link, other.url!).href, broker.cookie],
      [new URL(link, mine.url!).href, `__Host-runyard_oauth=${'b'.repeat(43)}`],
      [new URL(link, mine.url!).href, `${broker.cookie}; ${broker.cookie}`],
    ] as const) {
      const page = await fetch(broker.platform.service.url + new URL(url).pathname + new URL(url).search, {
        redirect: 'manual',
        headers: { cookie },
      });
      expect([page.status, page.headers.get('location')]).toEqual([200, null]);
    }
  });

  it('for a person of the platform is begun by that person alone, signed in', async () => {
    const { claims, browser } = person();
    const begun = await broker.authenticate('plain', {}, claims);
    const stranger = await broker.open(begun.url!);
    expect([stranger.status, stranger.headers.get('location')]).toEqual([
      303,
      `/login?return_to=${encodeURIComponent(`/v2/auth/start/${begun.auth_id}`)}`,
    ]);
    const byKey = await broker.open(begun.url!, { headers: await broker.platform.callers.headers(claims) });
    expect(byKey.status).toBe(303);
    const other = await broker.open(begun.url!, { headers: await person().browser() });
    expect(other.status).toBe(403);
    expect(linkIn(await other.text())).toBeUndefined();
    const address = await broker.begin(begun, await browser());
    const query = new URL(await broker.server.visit(address)).searchParams;
    expect((await broker.callback('plain', query)).status).toBe(200);
  });

  it('that is not known, or was finished, is not begun', async () => {
    const begun = await broker.authenticate('plain', {}, someone());
    await broker.callback('plain', await broker.consent(begun));
    for (const id of [begun.auth_id, randomUUID(), 'nonsense'])
      expect((await broker.open(`/v2/auth/start/${id}`)).status).toBe(400);
  });

  it('is finished by no key, as the browser has it', async () => {
    const alice = someone();
    const query = Object.fromEntries(await broker.consent(await broker.authenticate('plain', {}, alice)));
    expect((await broker.call('POST', '/callback/plain', { code: query.code, state: query.state }, alice)).status).toBe(
      400,
    );
  });
});

describe('with a front end, an authorization', () => {
  let fronted: TestBroker;
  beforeAll(async () => {
    fronted = await TestBroker.start(['plain'], { OAUTH_CALLBACK_URL: 'https://ui.example/connected' });
    await fronted.provider('plain');
  });
  afterAll(() => fronted.close());

  it('begins at the provider, and only the user who began finishes it; a wrong one uses nothing up', async () => {
    const alice = someone();
    const begun = await fronted.authenticate('plain', {}, alice);
    expect(begun.url).toContain(`${fronted.server.url}/`);
    expect((await fronted.open(`/v2/auth/start/${begun.auth_id}`)).status).toBe(400);
    const query = Object.fromEntries(await fronted.consent(begun));
    const body = { code: query.code, state: query.state };
    expect((await fronted.callback('plain', query)).status).toBe(400);
    expect((await fronted.call('POST', '/callback/plain', body, someone())).status).toBe(403);
    const elsewhere = { ...alice, organization_id: '11111111-0000-4000-8000-000000000009' };
    expect((await fronted.call('POST', '/callback/plain', body, elsewhere)).status).toBe(403);
    expect(await fronted.call('POST', '/callback/plain', body, alice)).toMatchObject({
      status: 200,
      body: { provider_id: 'plain' },
    });
    expect((await fronted.call('POST', '/callback/plain', body, alice)).status).toBe(400);
  });
});
