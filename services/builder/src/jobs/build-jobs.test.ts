import { EventEmitter, once } from 'node:events';
import type { BuildEnd, BuildOrder } from '@runyard/contracts';
import { Metrics, silentLogger } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { BuildJobs } from './build-jobs.ts';
import { BuildMetrics } from './build-metrics.ts';

const job = { revision_id: 'r', deployment_id: 'd', order_url: '/order' };
const order = { deployment_id: 'd', revision_id: 'r', variables: {}, timeout_seconds: 60 } as BuildOrder;

it('a job that the queue gives again while its build is under way keeps no place from other builds', async () => {
  let orders = 0;
  const client = {
    order: async () => {
      orders += 1;
      return { order };
    },
    report: async () => ({ goes_on: true, last_id: null }),
    end: async () => ({ is_accepted: true }),
  };
  const build = new EventEmitter<{ begun: []; ended: [BuildEnd] }>();
  const work = async () => {
    build.emit('begun');
    return ((await once(build, 'ended')) as [BuildEnd])[0];
  };
  const jobs = new BuildJobs({ client, work, metrics: new BuildMetrics(new Metrics()), logger: silentLogger });
  const begun = once(build, 'begun');
  const first = jobs.run(job, Date.now());
  await begun;
  await jobs.run(job, Date.now());
  expect(orders).toBe(1);
  build.emit('ended', { kind: 'archive' });
  await first;
});
