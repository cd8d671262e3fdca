import { describe, expect, it } from 'vitest';
import { RateLimit } from './rate-limit.ts';

function takeAll(limit: RateLimit, subject: string): number {
  let taken = 0;
  for (; limit.hasRoom(subject); taken += 1) limit.take(subject);
  return taken;
}

describe('a rate limit', () => {
  it('lets a rested subject take its burst at once, then says how long to wait', () => {
    const limit = new RateLimit({ name: 'key', perSecond: 2, burst: 3, now: () => 0 });
    expect(limit.state('k')).toBe('"key";r=3;t=0');
    expect(takeAll(limit, 'k')).toBe(3);
    expect(limit.retryAfterSeconds('k')).toBe(0.5);
    expect(limit.state('k')).toBe('"key";r=0;t=2');
    expect(limit.policy).toBe('"key";q=3;w=2');
  });

  it('pays a debt back over time, and never beyond the burst', () => {
    let now = 0;
    const limit = new RateLimit({ name: 'key', perSecond: 2, burst: 3, now: () => now });
    takeAll(limit, 'k');
    now = 500;
    expect(takeAll(limit, 'k')).toBe(1);
    now = 1_000_000;
    expect(takeAll(limit, 'k')).toBe(3);
  });

  it('lets a subject take each request of its rate, also where a request costs a fraction of a millisecond', () => {
    const limit = new RateLimit({ name: 'key', perSecond: 3_000, burst: 7_001, now: () => 0 });
    expect(takeAll(limit, 'k')).toBe(7_001);
  });

  it('counts each subject by itself', () => {
    const limit = new RateLimit({ name: 'key', perSecond: 1, burst: 1, now: () => 0 });
    expect(takeAll(limit, 'a')).toBe(1);
    expect(takeAll(limit, 'b')).toBe(1);
  });
});
