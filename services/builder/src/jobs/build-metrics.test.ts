import type { BuildEnd, BuildOrder } from '@runyard/contracts';
import { BuildError } from '@runyard/deployments';
import { Metrics, silentLogger } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { BuildJobs } from './build-jobs.ts';
import { BuildMetrics } from './build-metrics.ts';

const job = { revision_id: 'r', deployment_id: 'd', order_url: '/order' };
const order = { deployment_id: 'd', revision_id: 'r', variables: {}, timeout_seconds: 60 } as BuildOrder;

/** Runs jobs that do this work. */
function openJobs(work: () => Promise<BuildEnd>, isWanted = true) {
  const metrics = new Metrics();
  const client = {
    order: async () => ({ order: isWanted ? order : null }),
    report: async () => ({ goes_on: true, last_id: null }),
    end: async () => ({ is_accepted: true }),
  };
  const jobs = new BuildJobs({ client, work, metrics: new BuildMetrics(metrics), logger: silentLogger });
  const shown = async () => (await metrics.registry.metrics()).split('\n').filter((line) => !line.startsWith('#'));
  return { jobs, shown };
}

it('a build is counted while it is under way, and by its outcome when it has ended', async () => {
  let isRunning: string[] = [];
  const { jobs, shown } = openJobs(async () => {
    isRunning = await shown();
    return { kind: 'archive' };
  });
  await jobs.run(job, Date.now() - 20_000);
  expect(isRunning).toContain('runyard_builder_builds_running 1');
  const after = await shown();
  expect(after).toContain('runyard_builder_builds_running 0');
  expect(after).toContain('runyard_builder_builds_total{outcome="succeeded"} 1');
  expect(after).toContain('runyard_builder_build_seconds_count{outcome="succeeded"} 1');
  expect(after).toContain('runyard_builder_queue_wait_seconds_bucket{le="15"} 0');
  expect(after).toContain('runyard_builder_queue_wait_seconds_bucket{le="30"} 1');
});

it('a build that the project is at fault for is one that failed', async () => {
  const { jobs, shown } = openJobs(() => Promise.reject(new BuildError('no graph')));
  await jobs.run(job, Date.now());
  expect(await shown()).toContain('runyard_builder_builds_total{outcome="failed"} 1');
});

it('a job that nobody needs any more is no build', async () => {
  const { jobs, shown } = openJobs(async () => ({ kind: 'archive' }), false);
  await jobs.run(job, Date.now());
  expect((await shown()).filter((line) => line.startsWith('runyard_builder_builds_total'))).toEqual([]);
});
