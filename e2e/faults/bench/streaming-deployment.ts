import type { Bench } from './bench.ts';
import type { BenchDeployment } from './deployment.ts';
import { BenchGateway } from './gateway.ts';

/** Starts two of each process behind a gateway, for goals that compare streams at the end. */
export async function startStreamingDeployment(
  bench: Bench,
): Promise<{ deployment: BenchDeployment; gateway: BenchGateway }> {
  const deployment = await bench.deployment({
    agentApis: 2,
    workers: 2,
    bus: 'redis',
    env: {
      // The lease is the default one, except where time is short.
      ...(bench.tier === 'fast' && { WORKER_LEASE_SECONDS: '2' }),
      N_JOBS_PER_WORKER: '40',
      // The streams must still be kept when they are compared.
      RESUMABLE_STREAM_TTL_SECONDS: '600',
      BG_JOB_MAX_RETRIES: '100',
    },
  });
  const gateway = await BenchGateway.start(deployment, bench.servers);
  bench.onClose(() => gateway.close());
  return { deployment, gateway };
}
