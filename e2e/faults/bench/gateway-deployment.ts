import type { Bench } from './bench.ts';
import type { BenchDeployment } from './deployment.ts';
import { BenchGateway } from './gateway.ts';

/** A deployment whose clients go through a gateway. */
export interface GatewayDeployment {
  deployment: BenchDeployment;
  gateway: BenchGateway;
}

/** Starts two of each process behind a gateway. @param env further variables of the processes */
export async function startGatewayDeployment(bench: Bench, env: Record<string, string>): Promise<GatewayDeployment> {
  const deployment = await bench.deployment({
    agentApis: 2,
    workers: 2,
    bus: 'redis',
    env: {
      // The lease is the default one, except where time is short.
      ...(bench.tier === 'fast' && { WORKER_LEASE_SECONDS: '2' }),
      BG_JOB_MAX_RETRIES: '100',
      ...env,
    },
  });
  const gateway = await BenchGateway.start(deployment, bench.servers);
  bench.onClose(() => gateway.close());
  return { deployment, gateway };
}

/** Starts one for goals that compare streams at the end: they must still be kept then. */
export function startStreamingDeployment(bench: Bench): Promise<GatewayDeployment> {
  return startGatewayDeployment(bench, { N_JOBS_PER_WORKER: '40', RESUMABLE_STREAM_TTL_SECONDS: '600' });
}
