import type { MeasuredUsage, RunningReplica, RunningRevision } from '../drivers/driver.ts';
import { type ProcessUsage, processUsage } from './process-usage.ts';
import { readServiceMetrics, type ServiceMetrics } from './service-metrics.ts';

/** A sample of one process of a deployment. */
export interface ReplicaSample extends RunningReplica {
  revisionId: string;
  usage: ProcessUsage | MeasuredUsage | null;
  metrics: ServiceMetrics | null;
}

/** Samples of all processes of a deployment, including draining revisions. */
export interface ReplicaSamples {
  atMs: number;
  replicas: ReplicaSample[];
}

export async function sampleReplicas(revisions: Iterable<RunningRevision>): Promise<ReplicaSamples> {
  const asked = [...revisions].flatMap((revision) =>
    revision.replicas().map(async (replica) => ({
      ...replica,
      revisionId: revision.revisionId,
      usage: replica.pid === null ? ((await replica.measure?.()) ?? null) : await processUsage(replica.pid),
      metrics: replica.url === null ? null : await readServiceMetrics(replica.url),
    })),
  );
  const replicas = await Promise.all(asked);
  return { atMs: Date.now(), replicas };
}
