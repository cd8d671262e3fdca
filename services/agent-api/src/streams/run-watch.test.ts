import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RunWatch } from './run-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watchWith(inFlight: Set<string>) {
  const asked: string[][] = [];
  const watch = new RunWatch({
    findInFlight: async (runIds) => {
      asked.push(runIds);
      return inFlight;
    },
    onError: (error) => expect.unreachable(String(error)),
  });
  return { watch, asked };
}

it('the watch asks about all runs in one query every five seconds', async () => {
  const { watch, asked } = watchWith(new Set(['a', 'b']));
  for (const runId of ['a', 'b', 'b']) watch.watch(runId, () => expect.unreachable());
  await vi.advanceTimersByTimeAsync(5_000);
  expect(asked).toEqual([['a', 'b']]);
  watch.close();
});

it('the watch calls every watcher of a run that has ended or was deleted', async () => {
  const { watch } = watchWith(new Set(['a']));
  const notified: string[] = [];
  watch.watch('a', () => notified.push('a'));
  watch.watch('b', () => notified.push('b1'));
  watch.watch('b', () => notified.push('b2'));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(notified).toEqual(['b1', 'b2']);
  watch.close();
});

it('the watch asks nothing when nobody waits', async () => {
  const { watch, asked } = watchWith(new Set());
  watch.watch('a', () => expect.unreachable())();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

it('the watch checks soon on request, once for all requests', async () => {
  const { watch, asked } = watchWith(new Set());
  let notified = 0;
  watch.watch('a', () => notified++);
  for (let i = 0; i < 10; i++) watch.wake();
  await vi.advanceTimersByTimeAsync(300);
  expect(asked).toHaveLength(1);
  expect(notified).toBe(1);
  watch.close();
});
