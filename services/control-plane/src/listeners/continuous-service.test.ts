import { expect, it } from 'vitest';
import { ContinuousService } from './continuous-service.ts';

it('leases that lapsed while the platform was away count only after the data planes had time to come back', () => {
  let now = 0;
  const service = new ContinuousService(10_000, () => now);
  const servedAt = (ms: number) => {
    now = ms;
    service.served();
    return service.isLongEnough;
  };
  expect([servedAt(1_000), servedAt(10_000), servedAt(18_000), servedAt(19_000)]).toEqual([false, false, false, true]);
  expect(servedAt(28_000)).toBe(true);
  // Nobody could be served in between.
  expect([servedAt(40_000), servedAt(49_000), servedAt(57_000), servedAt(58_000)]).toEqual([false, false, false, true]);
});
