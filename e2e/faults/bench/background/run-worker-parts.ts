import { randomUUID } from 'node:crypto';
import { silentLogger as logger, Metrics } from '@runyard/service-kit';
import { ClaimLoop } from '../../../../services/run-worker/src/claiming/claim-loop.ts';
import { HostSupervisor } from '../../../../services/run-worker/src/hosts/host-supervisor.ts';
import { LeaseKeeper } from '../../../../services/run-worker/src/leases/lease-keeper.ts';
import { WorkerMetrics } from '../../../../services/run-worker/src/worker-metrics.ts';
import { FakeHost } from '../../../../services/run-worker/test/fakes.ts';
import type { BackgroundPart } from '../start-stop-storm.ts';
import { EVERY_MS, engineOf, nothing, type PartServers, stoppedBy } from './part-servers.ts';

export function runWorkerParts({ pool }: PartServers): BackgroundPart[] {
  const engine = engineOf(pool);
  const workerMetrics = new WorkerMetrics(new Metrics({ processMetrics: false }));
  return [
    {
      name: 'claim loop',
      open: () =>
        new ClaimLoop({
          engine,
          workerId: randomUUID(),
          freeSlots: () => 1,
          freeIsolatedHosts: () => 1,
          start: nothing,
          nextWakeup: () => new Promise(nothing),
          passOn: nothing,
          metrics: workerMetrics,
          logger,
          pollEveryMs: EVERY_MS,
        }),
    },
    {
      name: 'lease',
      open: () =>
        stoppedBy(
          new LeaseKeeper({
            engine,
            worker: { workerId: randomUUID(), revisionId: 'bench', slots: 1 },
            runs: { fences: () => [], cancel: nothing, lose: nothing, loseAll: nothing },
            leaseMs: 3 * EVERY_MS,
            metrics: workerMetrics,
            logger,
          }),
          'close',
        ),
    },
    {
      name: 'graph hosts',
      open: () => {
        const hosts = new HostSupervisor({
          start: async () => new FakeHost().host as never,
          onReady: nothing,
          onLost: nothing,
          logger,
          pingEveryMs: EVERY_MS,
        });
        return { start: () => hosts.start(), stop: () => hosts.close(10) };
      },
    },
  ];
}
