import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Metrics } from './metrics.ts';

/** Blocks the event loop, and returns when all timers that were due have run. */
async function block(ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() < until);
  await pause(1);
  await new Promise((resolve) => setImmediate(resolve));
}

it('a scrape says how late timers came, without the interval of the measurements', async () => {
  const metrics = new Metrics({ processMetrics: true });
  const delayOf = (text: string, value: string) =>
    Number(new RegExp(`^nodejs_eventloop_lag_${value}_seconds (\\S+)$`, 'm').exec(text)?.[1]);
  // The second measurement is the first that has one before it.
  await block(260);
  await block(400);
  const text = await metrics.text();
  expect(delayOf(text, 'max')).toBeGreaterThan(0.13);
  expect(delayOf(text, 'max')).toBeLessThan(60);
  for (const value of ['min', 'mean', 'stddev', 'p50', 'p90', 'p99']) {
    expect(delayOf(text, value)).toBeGreaterThanOrEqual(0);
  }
});
