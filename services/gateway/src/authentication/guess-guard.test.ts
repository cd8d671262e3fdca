import type { IncomingMessage } from 'node:http';
import { readConfig } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { configSchema } from '../config.ts';
import { RateLimits } from '../limits/rate-limits.ts';
import { ClientAddresses } from '../requests/client-address.ts';
import { GuessGuard } from './guess-guard.ts';
import { KeyCache } from './key-cache.ts';
import type { KeyCheckResult } from './key-check.ts';

const request = () => ({ socket: { remoteAddress: '203.0.113.7' }, headers: {} }) as unknown as IncomingMessage;
const GOOD = { kind: 'good', token: 't', claims: { exp: Date.now() / 1000 + 60 } } as unknown as KeyCheckResult;

it('a key that let its request in is found out when it is revoked, although its address fails too often', async () => {
  const environment = { RATE_LIMIT_FAILURES_RPS: '0.001', RATE_LIMIT_FAILURES_BURST: '1' };
  const required = { ORG_ACCESS_URL: 'http://o', CONTROL_PLANE_URL: 'http://c', INTERNAL_TOKEN: 'internal-token-16' };
  const good = new Set(['mine']);
  const keys = new KeyCache({
    ask: async ({ key }) => (good.has(key) ? GOOD : { kind: 'refused' }),
    // One entry, so that a known key is evicted at once.
    entriesMax: 1,
  });
  const limits = new RateLimits(readConfig(configSchema, { environment: { ...environment, ...required } }));
  const guard = new GuessGuard({ keys, limits, addresses: new ClientAddresses({ trustsAll: false }) });
  const check = guard.checkerFor(request());
  expect(await check({ key: 'mine', audience: 'gateway' })).toBe(GOOD);
  await guard.checkerFor(request())({ key: 'guessed', audience: 'gateway' });
  await expect(guard.checkerFor(request())({ key: 'again', audience: 'gateway' })).rejects.toThrow('Too many failures');
  good.clear();
  expect(await check({ key: 'mine', audience: 'gateway' })).toEqual({ kind: 'refused' });
});
