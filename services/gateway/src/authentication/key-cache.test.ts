import { beforeEach, describe, expect, it, vi } from 'vitest';
import { credentialIdOf, KeyCache } from './key-cache.ts';
import type { KeyCheckRequest, KeyCheckResult } from './key-check.ts';

const START = 1_800_000_000_000;
const request: KeyCheckRequest = { key: 'lsv2_sk_secret', audience: 'deployment:d', workspaceId: 'w' };

describe('the cache of keys', () => {
  let now: number;
  /** Milliseconds by which the machine's clock was set back. */
  let behindMs: number;
  let asked: KeyCheckRequest[];
  let answers: (request: KeyCheckRequest) => Promise<KeyCheckResult>;
  let revoked: string[];
  let cache: KeyCache;

  const good = (keyId = 'key-1', expiresInSeconds = 60): KeyCheckResult => ({
    kind: 'good',
    token: `token ${asked.length}`,
    claims: {
      sub: 's',
      aud: 'deployment:d',
      exp: Math.floor(now / 1000) + expiresInSeconds,
      organization_id: 'o',
      workspace_id: 'w',
      kind: 'service_key',
      key_id: keyId,
      organization_role: 'user',
      permissions: [],
    },
  });

  beforeEach(() => {
    now = START;
    behindMs = 0;
    asked = [];
    revoked = [];
    answers = async () => good();
    cache = new KeyCache({
      ask: (each) => {
        asked.push(each);
        return answers(each);
      },
      now: () => now,
      wallClock: () => now - behindMs,
      onRevoked: (keyId) => revoked.push(keyId),
    });
  });

  it('asks once for requests that come while an answer is fresh', async () => {
    await cache.check(request);
    now += 2_000;
    await cache.check(request);
    expect(asked).toHaveLength(1);
  });

  it('asks once for requests that come together', async () => {
    await Promise.all([cache.check(request), cache.check(request), cache.check(request)]);
    expect(asked).toHaveLength(1);
  });

  it('asks apart for each audience and workspace', async () => {
    await cache.check(request);
    await cache.check({ ...request, audience: 'control-plane' });
    await cache.check({ ...request, workspaceId: 'other' });
    expect(asked).toHaveLength(3);
  });

  it('renews an ageing answer without making the caller wait', async () => {
    await cache.check(request);
    now += 3_000;
    expect(await cache.check(request)).toMatchObject({ token: 'token 1' });
    await new Promise(setImmediate);
    expect(asked).toHaveLength(2);
    expect(await cache.check(request)).toMatchObject({ token: 'token 2' });
  });

  it('never uses an answer older than 4 s while org-access answers', async () => {
    await cache.check(request);
    now += 4_000;
    answers = async () => ({ kind: 'refused' });
    expect(await cache.check(request)).toEqual({ kind: 'refused' });
  });

  it('asks again when an answer is 4 s old, and gives up after 60 s, also when the machine’s clock is set back', async () => {
    await cache.check(request);
    behindMs = 3_600_000;
    now += 4_000;
    answers = async () => ({ kind: 'refused' });
    expect(await cache.check(request)).toEqual({ kind: 'refused' });
    answers = async () => good('key-2', 300);
    now += 2_000;
    await cache.check(request);
    answers = async () => {
      throw new Error('away');
    };
    now += 60_000;
    await expect(cache.check(request)).rejects.toMatchObject({ status: 503 });
  });

  it('uses the monotonic clock where none is given', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const own = new KeyCache({
      ask: async () => {
        asked.push(request);
        return good();
      },
    });
    await own.check(request);
    vi.setSystemTime(Date.now() + 3_600_000);
    await own.check(request);
    vi.useRealTimers();
    expect(asked).toHaveLength(1);
  });

  it('serves a known key for up to 60 s while org-access is away, then refuses to guess', async () => {
    answers = async () => good('key-1', 300);
    await cache.check(request);
    answers = async () => {
      throw new Error('away');
    };
    now += 59_000;
    expect(await cache.check(request)).toMatchObject({ kind: 'good' });
    now += 1_000;
    await expect(cache.check(request)).rejects.toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
  });

  it('does not make known callers wait for an org-access that just failed', async () => {
    await cache.check(request);
    answers = async () => {
      throw new Error('away');
    };
    now += 10_000;
    await cache.check(request);
    await cache.check(request);
    expect(asked).toHaveLength(2);
    now += 1_000;
    await cache.check(request);
    expect(asked).toHaveLength(3);
  });

  it('forwards no token past its life', async () => {
    answers = async () => good('key-1', 3);
    await cache.check(request);
    now += 1_500;
    await cache.check(request);
    expect(asked).toHaveLength(2);
  });

  it('answers 503 for a key it never saw while org-access is away', async () => {
    answers = async () => {
      throw new Error('away');
    };
    await expect(cache.check(request)).rejects.toMatchObject({ status: 503 });
  });

  it('remembers a refusal for a short while only', async () => {
    answers = async () => ({ kind: 'refused' });
    await cache.check(request);
    await cache.check(request);
    expect(asked).toHaveLength(1);
    now += 2_000;
    answers = async () => good();
    expect(await cache.check(request)).toMatchObject({ kind: 'good' });
  });

  it('asks again about an invalidated key at its next request, for every audience', async () => {
    await cache.check(request);
    await cache.check({ ...request, audience: 'control-plane' });
    cache.invalidate(new Set(['key-1']));
    answers = async () => ({ kind: 'refused' });
    expect(await cache.check(request)).toEqual({ kind: 'refused' });
    expect(await cache.check({ ...request, audience: 'control-plane' })).toEqual({ kind: 'refused' });
    expect(revoked).toEqual(['key-1']);
  });

  it('keeps an invalidated key good when org-access says so, and asks about it once', async () => {
    await cache.check(request);
    cache.invalidate(new Set(['key-1', 'key-2']));
    expect(revoked).toEqual([]);
    expect(await cache.check(request)).toMatchObject({ kind: 'good' });
    expect(await cache.check(request)).toMatchObject({ kind: 'good' });
    expect(asked).toHaveLength(2);
  });

  it('keeps an invalidated key in use while org-access is unavailable: a hint alone refuses nobody', async () => {
    await cache.check(request);
    cache.invalidate(new Set(['key-1']));
    answers = async () => {
      throw new Error('away');
    };
    expect(await cache.check(request)).toMatchObject({ kind: 'good' });
  });

  it('does not believe an answer that was in flight when its key was invalidated', async () => {
    let deliver!: (answer: KeyCheckResult) => void;
    answers = () =>
      new Promise((resolve) => {
        deliver = resolve;
      });
    const checking = cache.check(request);
    cache.invalidate(new Set(['key-1']));
    answers = async () => ({ kind: 'refused' });
    deliver(good());
    expect(await checking).toEqual({ kind: 'refused' });
  });

  it('reports a revocation it learns by asking', async () => {
    await cache.check(request);
    now += 4_000;
    answers = async () => ({ kind: 'refused' });
    await cache.check(request);
    expect(revoked).toEqual(['key-1']);
  });

  it('holds no key in clear', async () => {
    await cache.check(request);
    expect(cache.cachedIds()).toHaveLength(1);
    expect(cache.cachedIds().join()).not.toContain('secret');
  });

  it('keeps good answers, however many places a caller asks for that it does not reach', async () => {
    const small = new KeyCache({ ask: (each) => answers(each), now: () => now, wallClock: () => now, entriesMax: 10 });
    await small.check(request);
    for (const refusal of [{ kind: 'refused' }, { kind: 'out_of_reach', detail: '' }] as const) {
      answers = async () => refusal;
      for (let each = 0; each < 50; each += 1)
        await small.check({ ...request, key: 'another', workspaceId: `made up ${each}` });
    }
    expect(small.isKnownGood(request)).toBe(true);
    expect(small.size).toBe(11);
  });

  it('knows a credential that was good anywhere, until it is refused', async () => {
    answers = async () => ({ kind: 'out_of_reach', detail: '' });
    await cache.check(request);
    expect(cache.isKnown(credentialIdOf(request.key))).toBe(true);
    answers = async () => ({ kind: 'refused' });
    now += 2_000;
    await cache.check(request);
    expect(cache.isKnown(credentialIdOf(request.key))).toBe(false);
  });

  it('stays within its bounds', async () => {
    const small = new KeyCache({ ask: async () => good(), now: () => now, wallClock: () => now, entriesMax: 10 });
    for (let each = 0; each < 50; each += 1) await small.check({ ...request, key: `key ${each}` });
    expect(small.size).toBe(10);
  });
});
