import type { SweepResult } from '@runyard/run-engine';
import { Metrics } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { expect, it, vi } from 'vitest';
import { quietLogger } from '../../test/fakes.ts';
import { WorkerMetrics } from '../worker-metrics.ts';
import { createSweeper } from './sweeper.ts';

const NOTHING: SweepResult = {
  resumedRunIds: [],
  ended: [],
  removedRuns: 0,
  removedResults: 0,
  hasForgottenRuns: false,
};
const away = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

it('after the database was away, workers get the time to renew before lapsed leases count', async () => {
  let now = 0;
  const engine = { sweep: vi.fn(async () => NOTHING) };
  const isMine = vi.fn(async () => true);
  const checkDatabase = vi.fn(async () => undefined);
  const sweeper = createSweeper({
    engine,
    duty: { isMine, release: async () => undefined },
    streams: { append: async () => [] },
    currentEpoch: async () => undefined,
    wakeups: { kick: () => undefined },
    metrics: new WorkerMetrics(new Metrics()),
    logger: quietLogger,
    everyMs: 2,
    checkDatabase,
    graceMs: 5_000,
    now: () => now,
  });
  engine.sweep.mockRejectedValueOnce(away);
  checkDatabase.mockRejectedValueOnce(away);
  sweeper.start();
  await waitFor(() => checkDatabase.mock.calls.length === 2);
  const asked = isMine.mock.calls.length;
  await waitFor(() => isMine.mock.calls.length > asked + 3);
  expect(engine.sweep).toHaveBeenCalledTimes(1);
  now = 5_000;
  await waitFor(() => engine.sweep.mock.calls.length > 1);
  await sweeper.close();
});
