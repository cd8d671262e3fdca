import type { Bench } from '../bench.ts';
import type { BenchDeployment } from '../deployment.ts';
import { BenchGateway } from '../gateway.ts';
import { killParts } from '../kill-parts.ts';
import { killRedis } from '../kill-redis.ts';

const KILLS = { fast: 5, full: 30 };
const REDIS_KILLS = { fast: 1, full: 5 };
const TERMINAL = ['success', 'error', 'timeout', 'interrupted'];

/** A deployment behind a gateway, whose processes are killed while clients have tasks executed. */
export interface TaskDeployment {
  deployment: BenchDeployment;
  gateway: BenchGateway;
}

export async function startTaskDeployment(bench: Bench): Promise<TaskDeployment> {
  const deployment = await bench.deployment({
    agentApis: 2,
    workers: 2,
    bus: 'redis',
    env: {
      ...(bench.tier === 'fast' && { WORKER_LEASE_SECONDS: '2' }),
      N_JOBS_PER_WORKER: '20',
      BG_JOB_MAX_RETRIES: '100',
    },
  });
  const gateway = await BenchGateway.start(deployment, bench.servers);
  bench.onClose(() => gateway.close());
  return { deployment, gateway };
}

/** Kills processes of every kind, and then Redis, which comes back empty. */
export async function killEverything(
  bench: Bench,
  { deployment, gateway }: TaskDeployment,
  { beforeRedis }: { beforeRedis?: () => void } = {},
): Promise<void> {
  const [kills, redisKills] = [bench.size(KILLS), bench.size(REDIS_KILLS)];
  await killParts(bench, [...deployment.workers, ...deployment.agentApis, gateway.part], kills);
  beforeRedis?.();
  await killRedis(bench, redisKills);
  bench.measureEnough('processes killed', kills, kills);
  bench.measureEnough('times that Redis was killed and emptied', redisKills, redisKills);
}

/** Measures that each run of the deployment ended once. */
export async function measureEnds(bench: Bench, deployment: BenchDeployment, needed: number): Promise<void> {
  const ends = new Map<string, number>();
  for (const { runId, to } of await deployment.audit.statusChanges()) {
    if (to !== null && TERMINAL.includes(to)) ends.set(runId, (ends.get(runId) ?? 0) + 1);
  }
  const twice = [...ends].filter(([, count]) => count > 1).map(([runId, count]) => `${runId} ended ${count} times`);
  bench.measureNone('runs of tasks that ended twice', twice, ends.size, needed);
}
