import { describe, expect, it } from 'vitest';
import { RateLimit } from './rate-limit.ts';

describe('the rate limit', () => {
  it('lets a burst through, then answers 429 with the time to wait', () => {
    const limit = new RateLimit({ perSecond: 2, burst: 3, now: () => 0 });
    for (let each = 0; each < 3; each += 1) limit.take('k');
    expect(() => limit.take('k')).toThrow(expect.objectContaining({ status: 429, headers: { 'retry-after': '1' } }));
  });

  it('fills up with time, never above the burst', () => {
    let now = 0;
    const limit = new RateLimit({ perSecond: 2, burst: 3, now: () => now });
    for (let each = 0; each < 3; each += 1) limit.take('k');
    now = 500;
    limit.take('k');
    expect(() => limit.take('k')).toThrow();
    now = 1_000_000;
    for (let each = 0; each < 3; each += 1) limit.take('k');
    expect(() => limit.take('k')).toThrow();
  });

  it('counts each key by itself', () => {
    const limit = new RateLimit({ perSecond: 1, burst: 1, now: () => 0 });
    limit.take('a');
    limit.take('b');
    expect(() => limit.take('a')).toThrow();
  });

  it('is off at rate 0', () => {
    const limit = new RateLimit({ perSecond: 0 });
    for (let each = 0; each < 10_000; each += 1) limit.take('k');
  });
});
