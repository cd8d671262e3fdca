import type { Bench } from '../bench.ts';
import type { BenchDeployment } from '../deployment.ts';
import { type GatewayDeployment, startGatewayDeployment } from '../gateway-deployment.ts';
import { killParts } from '../kill-parts.ts';
import { killRedis } from '../kill-redis.ts';

const KILLS = { fast: 5, full: 30 };
const REDIS_KILLS = { fast: 1, full: 5 };
const TERMINAL = ['success', 'error', 'timeout', 'interrupted'];

/** Starts a deployment whose processes are killed while clients have tasks executed. */
export function startTaskDeployment(bench: Bench): Promise<GatewayDeployment> {
  return startGatewayDeployment(bench, { N_JOBS_PER_WORKER: '20' });
}

/** Kills processes of every kind, and then Redis, which comes back empty. */
export async function killEverything(
  bench: Bench,
  { deployment, gateway }: GatewayDeployment,
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
