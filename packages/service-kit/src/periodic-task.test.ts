import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PeriodicTask, type PeriodicTaskOptions } from './periodic-task.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function createTask(options: Partial<PeriodicTaskOptions> = {}) {
  const run = vi.fn(async () => undefined);
  const logger = { warn: vi.fn() };
  return { task: new PeriodicTask({ name: 'a task', everyMs: 1000, run, logger, ...options }), run, logger };
}

it('a task runs at every interval, at its start only on request, and never after its stop', async () => {
  const later = createTask();
  const atOnce = createTask({ atStart: true });
  later.task.start();
  atOnce.task.start();
  await vi.advanceTimersByTimeAsync(2000);
  await Promise.all([later.task.stop(), atOnce.task.stop()]);
  atOnce.task.wake();
  await vi.advanceTimersByTimeAsync(2000);
  expect(later.run).toHaveBeenCalledTimes(2);
  expect(atOnce.run).toHaveBeenCalledTimes(3);
});

it('rounds of a task do not overlap, and its stop waits for the round under way', async () => {
  let finish = () => {};
  const run = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
  const { task } = createTask({ run, atStart: true });
  task.start();
  await vi.advanceTimersByTimeAsync(5000);
  expect(run).toHaveBeenCalledTimes(1);
  const onStopped = vi.fn();
  const stopped = task.stop().then(onStopped);
  expect(task.isStopped).toBe(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(onStopped).not.toHaveBeenCalled();
  finish();
  await stopped;
});

it('a wake runs a round at once, and all wakes during a round share one after it', async () => {
  let finish = () => {};
  const run = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
  const { task } = createTask({ run });
  task.start();
  task.wake();
  expect(run).toHaveBeenCalledTimes(1);
  task.wake();
  task.wake();
  expect(run).toHaveBeenCalledTimes(1);
  finish();
  await vi.advanceTimersByTimeAsync(0);
  expect(run).toHaveBeenCalledTimes(2);
  finish();
  await vi.advanceTimersByTimeAsync(0);
  expect(run).toHaveBeenCalledTimes(2);
  await task.stop();
});

it.each([
  ['rejects', () => Promise.reject(new Error('away'))],
  [
    'throws',
    () => {
      throw new Error('away');
    },
  ],
])('a round that %s is logged with the name of its task, and the next one runs', async (_, run) => {
  const { task, logger } = createTask({ run: vi.fn(run) });
  task.start();
  await vi.advanceTimersByTimeAsync(2000);
  await task.stop();
  const line = ['periodic task failed, will retry', { task: 'a task', error: new Error('away') }];
  expect(logger.warn.mock.calls).toEqual([line, line]);
});

it('a task that is started after its stop does not run', async () => {
  const { task, run } = createTask({ atStart: true });
  await task.stop();
  task.start();
  await vi.advanceTimersByTimeAsync(2000);
  expect(run).not.toHaveBeenCalled();
});

it('a task may have an interval that is longer than a timer', async () => {
  const { task, run } = createTask({ everyMs: 2 ** 40 });
  task.start();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(run).not.toHaveBeenCalled();
  await task.stop();
});

it.each(Array.from({ length: 8 }, (_, steps) => steps))('a wake %i steps after a round is not lost', async (steps) => {
  const { task, run } = createTask();
  task.wake();
  for (let step = 0; step < steps; step++) await undefined;
  const before = run.mock.calls.length;
  task.wake();
  await vi.advanceTimersByTimeAsync(0);
  expect(run.mock.calls.length).toBeGreaterThan(before);
  await task.stop();
});
