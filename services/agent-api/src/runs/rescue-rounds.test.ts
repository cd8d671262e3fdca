import type { SweptRun } from '@runyard/run-engine';
import { Metrics, silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import { expect, it, vi } from 'vitest';
import { SweepMetrics } from '../meta/sweep-metrics.ts';
import { createRescueRounds } from './rescue-rounds.ts';

const ENDED: SweptRun = {
  runId: 'r',
  attempt: 1,
  status: 'interrupted',
  error: null,
  isRolledBack: false,
  cancelledForMs: 1_200,
  fence: { threadId: 't', epoch: 2n, runId: 'r' },
};

it('cancelled runs of lost workers are ended, and counted, while a graph never returns its state', async () => {
  const registry = new Metrics();
  const rescue = {
    hasWork: async () => true,
    endCancelled: vi.fn(async (): Promise<SweptRun[]> => []).mockResolvedValueOnce([ENDED]),
    findOutdatedStates: async () => [{ threadId: 'hung', metadata: {} }],
    repairThreads: async () => ['mended'],
  };
  // Two batches are left, and then nothing.
  const removeNext = vi.fn(async () => removeNext.mock.calls.length < 3);
  const refresh = vi.fn(() => new Promise<void>(() => {}));
  const rounds = createRescueRounds({
    engine: { rescue, removals: { removeNext }, currentEpoch: async () => undefined },
    state: { refresh },
    pool: { query: async () => ({ rows: [{ name: 'run rescue' }] }) } as unknown as pg.Pool,
    streams: { append: async () => [], publishCancel: async () => undefined },
    metrics: new SweepMetrics(registry),
    logger: silentLogger,
    everyMs: 2,
  });
  rounds.start();
  await waitFor(() => rescue.endCancelled.mock.calls.length > 3, { what: 'further rounds' });
  await rounds.stop();
  expect(refresh).toHaveBeenCalledOnce();
  expect(removeNext.mock.calls.length).toBeGreaterThan(3);
  const text = await registry.text();
  expect(text).toContain('lg_api_swept_total{what="cancelled"} 1');
  expect(text).toContain('lg_api_swept_total{what="mended"} 1');
  expect(text).toContain('lg_api_run_cancel_latency_sum 1200');
});

it('a deployment with nothing to rescue is asked one question every two seconds, and no lease is taken for it', async () => {
  vi.useFakeTimers();
  const rescue = {
    hasWork: vi.fn(async () => false),
    endCancelled: vi.fn(async () => []),
    findOutdatedStates: vi.fn(async () => []),
    repairThreads: vi.fn(async () => []),
  };
  const removeNext = vi.fn(async () => false);
  const query = vi.fn(async () => ({ rows: [{ name: 'run rescue' }] }));
  const rounds = createRescueRounds({
    engine: { rescue, removals: { removeNext }, currentEpoch: async () => undefined },
    state: { refresh: async () => undefined },
    pool: { query } as unknown as pg.Pool,
    streams: { append: async () => [], publishCancel: async () => undefined },
    metrics: new SweepMetrics(new Metrics()),
    logger: silentLogger,
  });
  try {
    rounds.start();
    await vi.advanceTimersByTimeAsync(50_000);
    expect(rescue.hasWork).toHaveBeenCalledTimes(24);
    // The first round looks for stuck threads, as one does each minute.
    for (const once of [query, rescue.endCancelled, rescue.repairThreads]) expect(once).toHaveBeenCalledOnce();
    rescue.hasWork.mockResolvedValue(true);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(rescue.endCancelled).toHaveBeenCalledTimes(2);
  } finally {
    await rounds.stop();
    vi.useRealTimers();
  }
});
