import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LeasedTask, type LeasedTaskOptions } from './leased-task.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function createTask(options: Partial<LeasedTaskOptions> = {}) {
  const lease = { name: 'sweep', isMine: vi.fn(async () => true), release: vi.fn(async () => undefined) };
  const run = vi.fn(async () => undefined);
  const logger = { warn: vi.fn() };
  const task = new LeasedTask({ lease, everyMs: 1000, atStart: true, run, logger, ...options });
  return { task, lease, run, logger };
}

it('a leased task does not run while another process has the lease', async () => {
  const { task, lease, run } = createTask();
  lease.isMine.mockResolvedValue(false);
  task.start();
  await vi.advanceTimersByTimeAsync(2000);
  expect(lease.isMine).toHaveBeenCalledTimes(3);
  expect(run).not.toHaveBeenCalled();
  await task.stop();
});

it('the stop of a leased task waits for the round under way, and frees the lease after it', async () => {
  let finish = () => {};
  const { task, lease } = createTask({ run: () => new Promise<void>((resolve) => (finish = resolve)) });
  task.start();
  await vi.advanceTimersByTimeAsync(1000);
  const stopped = task.stop();
  await vi.advanceTimersByTimeAsync(0);
  expect(lease.release).not.toHaveBeenCalled();
  finish();
  await stopped;
  expect(lease.release).toHaveBeenCalledOnce();
});

it('a leased task may continue until it loses its lease or is stopped', async () => {
  const { task, lease } = createTask();
  expect(await task.mayContinue()).toBe(true);
  lease.isMine.mockResolvedValueOnce(false);
  expect(await task.mayContinue()).toBe(false);
  await task.stop();
  expect(await task.mayContinue()).toBe(false);
});

it('a leased task runs again after it failed or its lease could not be read', async () => {
  const { task, lease, run, logger } = createTask();
  const away = new Error('away');
  lease.isMine.mockRejectedValueOnce(away);
  run.mockRejectedValueOnce(away);
  lease.release.mockRejectedValue(away);
  task.start();
  await vi.advanceTimersByTimeAsync(2000);
  const line = ['periodic task failed, will retry', { task: 'sweep', error: away }];
  expect(logger.warn.mock.calls).toEqual([line, line]);
  expect(run).toHaveBeenCalledTimes(2);
  await expect(task.stop()).resolves.toBeUndefined();
});
