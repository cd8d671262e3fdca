import type { Logger } from '@runyard/service-kit';
import { expect, it, vi } from 'vitest';
import { createStoreSweeper } from './store-sweeper.ts';

const logger = { info: vi.fn(), warn: vi.fn() } as unknown as Logger;

function sweeperOf({ isMine = true, left = [] as number[] }) {
  const limits: number[] = [];
  const lease = { name: 'sweep', isMine: vi.fn(async () => isMine), release: vi.fn(async () => undefined) };
  const store = {
    deleteExpired: async (limit: number) => {
      limits.push(limit);
      return left.shift() ?? 0;
    },
  };
  return { sweeper: createStoreSweeper({ store, lease, logger, everyMs: 60_000 }), limits, lease };
}

it('the store sweeper sweeps at its start, batch after batch until one is not full', async () => {
  const { sweeper, limits, lease } = sweeperOf({ left: [1000, 1000, 3] });
  sweeper.start();
  await expect.poll(() => limits).toEqual([1000, 1000, 1000]);
  await sweeper.stop();
  expect(limits).toHaveLength(3);
  expect(lease.release).toHaveBeenCalled();
});

it('the store sweeper deletes nothing while another process has the lease', async () => {
  const { sweeper, limits, lease } = sweeperOf({ isMine: false });
  sweeper.start();
  await expect.poll(() => lease.isMine).toHaveBeenCalled();
  await sweeper.stop();
  expect(limits).toEqual([]);
});

it('the store sweeper continues after a sweep that failed', async () => {
  const { sweeper, lease } = sweeperOf({});
  lease.isMine.mockRejectedValueOnce(new Error('away'));
  sweeper.start();
  await expect.poll(() => logger.warn).toHaveBeenCalled();
  await expect(sweeper.stop()).resolves.toBeUndefined();
});
