import { readConfig } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { KeyCache } from '../authentication/key-cache.ts';
import type { KeyCheckRequest, KeyCheckResult } from '../authentication/key-check.ts';
import { configSchema } from '../config.ts';
import { RateLimits } from './rate-limits.ts';
import { RequestLimit } from './request-limit.ts';

const REQUIRED = {
  ORG_ACCESS_URL: 'http://o',
  CONTROL_PLANE_URL: 'http://c',
  INTERNAL_TOKEN: 'a-token-of-thirty-two-characters',
};

/** Returns a function that begins requests of one address, which may fail so often. */
function beginnerOf(ask: (request: KeyCheckRequest) => Promise<KeyCheckResult>, failures: number, entriesMax?: number) {
  const environment = { RATE_LIMIT_FAILURES_RPS: '0.001', RATE_LIMIT_FAILURES_BURST: String(failures), ...REQUIRED };
  const limits = new RateLimits(readConfig(configSchema, { environment }));
  const keys = new KeyCache({ ask, ...(entriesMax !== undefined && { entriesMax }) });
  return () => new RequestLimit({ keys, limits, address: '203.0.113.7' });
}

const goodAnswer = ({ key, audience }: KeyCheckRequest): KeyCheckResult => {
  const claims = { aud: audience, exp: Date.now() / 1000 + 60, key_id: key };
  return { kind: 'good', token: 't', claims } as unknown as KeyCheckResult;
};

it('a key that let its request in is found out when it is revoked, although its address fails too often', async () => {
  const good = new Set(['mine', 'another']);
  // One entry, so that a known key is evicted by the next.
  const begin = beginnerOf(
    async (request) => (good.has(request.key) ? goodAnswer(request) : { kind: 'refused' }),
    1,
    1,
  );
  const { check } = begin();
  expect(await check({ key: 'mine', audience: 'gateway' })).toMatchObject({ kind: 'good' });
  await begin().check({ key: 'another', audience: 'gateway' });
  await begin().check({ key: 'guessed', audience: 'gateway' });
  await expect(begin().check({ key: 'again', audience: 'gateway' })).rejects.toThrow('Too many failures');
  good.clear();
  expect(await check({ key: 'mine', audience: 'gateway' })).toEqual({ kind: 'refused' });
});

it('a key that does not reach what it asks for uses up failures of its own, and none of its address', async () => {
  const asked: KeyCheckRequest[] = [];
  const begin = beginnerOf(async (request) => {
    asked.push(request);
    if (request.key === 'wrong') return { kind: 'refused' };
    return request.workspaceId === 'own' ? goodAnswer(request) : { kind: 'out_of_reach', detail: 'no' };
  }, 2);
  const ask = (key: string, workspaceId: string) => begin().check({ key, audience: 'control-plane', workspaceId });
  await ask('mine', 'own');
  await ask('mine', 'foreign 1');
  await ask('mine', 'foreign 2');
  await expect(ask('mine', 'foreign 3')).rejects.toThrow('Too many requests with this key for what it does not reach');
  expect(asked.map(({ workspaceId }) => workspaceId)).toEqual(['own', 'foreign 1', 'foreign 2']);
  expect(await ask('mine', 'own')).toMatchObject({ kind: 'good' });
  expect(await ask('wrong', 'own')).toEqual({ kind: 'refused' });
  expect(await ask('new', 'own')).toMatchObject({ kind: 'good' });
});
