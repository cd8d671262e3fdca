import type { BuildEnd, BuildOrder } from '@runyard/contracts';
import { Metrics, silentLogger } from '@runyard/service-kit';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BuildJobs } from './build-jobs.ts';
import { BuildMetrics } from './build-metrics.ts';

const JOB = { deployment_id: 'd', revision_id: 'r', order_url: '/order' };
const ORDER = { deployment_id: 'd', revision_id: 'r', variables: {}, timeout_seconds: 600 } as BuildOrder;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Runs jobs. Builds end when their entry of `begun` is called, also the first, which is withdrawn at once. */
function openJobs({ isWithdrawn = true } = {}) {
  const begun: (() => void)[] = [];
  const client = {
    order: async () => ({ order: ORDER }),
    report: async () => ({ goes_on: !isWithdrawn || begun.length > 1, last_id: null }),
    end: async () => ({ is_accepted: true }),
  };
  const work = () => new Promise<BuildEnd>((resolve) => void begun.push(() => resolve({ kind: 'archive' })));
  const jobs = new BuildJobs({ client, work, metrics: new BuildMetrics(new Metrics()), logger: silentLogger });
  return { jobs, begun };
}

it('a build begins when the work of the one before has ended, however long that takes after its abortion', async () => {
  const { jobs, begun } = openJobs();
  const first = jobs.run(JOB, Date.now());
  const second = jobs.run(JOB, Date.now());
  await vi.advanceTimersByTimeAsync(40_000);
  await first;
  expect(begun).toHaveLength(1);
  begun[0]!();
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toHaveLength(2);
  begun[1]!();
  await vi.advanceTimersByTimeAsync(5_000);
  await second;
});

it('a job is left to control-plane when the work before it does not end', async () => {
  const { jobs, begun } = openJobs();
  const both = Promise.all([jobs.run(JOB, Date.now()), jobs.run(JOB, Date.now())]);
  await vi.advanceTimersByTimeAsync(100_000);
  await both;
  expect(begun).toHaveLength(1);
});

it('a job that the queue gives again while its build is under way keeps no place from other builds', async () => {
  const { jobs, begun } = openJobs({ isWithdrawn: false });
  const first = jobs.run(JOB, Date.now());
  await vi.advanceTimersByTimeAsync(0);
  await jobs.run(JOB, Date.now());
  expect(begun).toHaveLength(1);
  begun[0]!();
  await vi.advanceTimersByTimeAsync(5_000);
  await first;
  expect(begun).toHaveLength(1);
});
