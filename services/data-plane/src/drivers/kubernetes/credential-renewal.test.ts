import { silentLogger } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { renewUntilAborted } from './credential-renewal.ts';

it('a pull credential is renewed periodically, and soon after a failure, until the signal aborts', async () => {
  const ended = new AbortController();
  let renewals = 0;
  const renew = async () => {
    renewals += 1;
    if (renewals === 1) throw new Error('the platform is away');
    if (renewals === 3) ended.abort();
  };
  const options = { signal: ended.signal, logger: silentLogger };
  const begunAt = performance.now();
  await renewUntilAborted({ renew, isDue: true }, options, { everyMs: 100, againMs: 1 });
  expect(renewals).toBe(3);
  expect(performance.now() - begunAt, 'one turn of three waits for long').toBeGreaterThanOrEqual(99);
});
