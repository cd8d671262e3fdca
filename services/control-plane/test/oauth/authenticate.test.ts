import type { OAuthProvider, WaitResponse } from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECRET, someone, TestBroker } from './broker.ts';

let broker: TestBroker;
beforeAll(async () => {
  broker = await TestBroker.start(['plain', 'pinned', 'waits']);
  await broker.provider('plain');
});
afterAll(() => broker.close());

describe('a token of a provider', () => {
  it('is asked of the person, and given out once it came', async () => {
    const alice = someone();
    const begun = await broker.authenticate('plain', { user_id: 'a@b.c' }, alice);
    expect(begun).toMatchObject({ status: 'pending', user_id: 'a@b.c', auth_id: expect.any(String) });
    expect(await broker.call('GET', `/wait/${begun.auth_id}?timeout=0`, undefined, alice)).toMatchObject({
      status: 200,
      body: { status: 'pending' },
    });
    const page = await broker.callback('plain', await broker.consent(begun));
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('Your account is connected');
    const waited = await broker.call<WaitResponse>('GET', `/wait/${begun.auth_id}`, undefined, alice);
    expect(waited.body.status).toBe('completed');
    expect(await broker.server.knows(waited.body.token!)).toBe(true);
    const again = await broker.authenticate('plain', { user_id: 'a@b.c' }, alice);
    expect(again).toMatchObject({ status: 'completed', token: waited.body.token });
  });

  it('wakes who waits for it at once', async () => {
    const alice = someone();
    const begun = await broker.authenticate('plain', {}, alice);
    const waiting = broker.call<WaitResponse>('GET', `/wait/${begun.auth_id}?timeout=300`, undefined, alice);
    await broker.callback('plain', await broker.consent(begun));
    expect((await waiting).body).toMatchObject({ status: 'completed', token: expect.any(String) });
  });
});

describe('a provider', () => {
  it('never shows its secret, and keeps it sealed', async () => {
    const created = await broker.provider('pinned', { uses_pkce: true });
    expect(created).toMatchObject({
      provider_id: 'pinned',
      uses_pkce: true,
      code_challenge_method: 'S256',
      provider_type: null,
      is_dynamic_client: false,
    });
    const { body: list } = await broker.call<OAuthProvider[]>('GET', '/providers');
    expect(JSON.stringify([created, list])).not.toContain(SECRET);
    expect(await broker.platform.dump()).not.toContain(SECRET);
  });
});
