import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment } from '../bench/deployment.ts';
import { BenchGateway } from '../bench/gateway.ts';
import type { Goal } from '../bench/goal.ts';
import { killParts } from '../bench/kill-parts.ts';
import { faultOfTask, TaskClients } from '../bench/tasks/task-clients.ts';
import { type A2aTask, hasEnded } from '../bench/tasks/task-forms.ts';

const CLIENTS = { fast: 6, full: 20 };
const KILLS = { fast: 5, full: 30 };
const REDIS_KILLS = { fast: 1, full: 5 };
const TERMINAL = ['success', 'error', 'timeout', 'interrupted'];

export const goal: Goal = {
  id: 'R24',
  title:
    'Every task of another agent (A2A) ends once, with its whole answer, whoever is killed: a subscription brings no part twice, and misses none unless Redis is emptied.',
  async run(bench) {
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
    const { deploymentUrl: url, headers } = gateway;
    const clients = new TaskClients(bench.size(CLIENTS), { url, headers, random: bench.random.fork('clients') });
    const kills = bench.size(KILLS);
    await killParts(bench, [...deployment.workers, ...deployment.agentApis, gateway.part], kills);
    clients.mayLoseParts = true;
    await killRedis(bench);
    await clients.stop();
    bench.log(`${clients.ended.length} tasks, ${clients.whole} subscriptions to their end, ${clients.cuts} cut`);
    bench.measureEnough('processes killed', kills, kills);
    bench.measureEnough('subscriptions cut that came back', clients.cuts, bench.size({ fast: 10, full: 50 }));
    const needed = bench.size({ fast: 10, full: 100 });
    bench.measureEnough('subscriptions that came to the end of an answer', clients.whole, needed);
    bench.measureNone('tasks and subscriptions that were not as they should be', clients.faults, clients.ended.length);
    await measureTasks(bench, deployment, clients, needed);
  },
};

async function killRedis(bench: Bench): Promise<void> {
  const { redis } = bench.servers;
  for (let kill = 0; kill < bench.size(REDIS_KILLS); kill += 1) {
    await pause(bench.random.integer(500, 2_500));
    await redis.kill();
    await redis.wipe();
    await redis.start();
  }
}

/** Measures what is left in the end: every process shows every task in the same way, and each of their runs ended once. */
async function measureTasks(
  bench: Bench,
  deployment: BenchDeployment,
  { ended }: TaskClients,
  needed: number,
): Promise<void> {
  await deployment.audit.untilAllEnded(60_000);
  const wrong: string[] = [];
  for (const one of ended) {
    for (const at of deployment.agentApis.keys()) {
      const shown = await deployment.call('GET', `/a2a/talk/tasks/${one.task.id}`, { at, headers: VERSION });
      const fault = faultOfTask(shown.body as A2aTask, one);
      if (fault) wrong.push(`task ${one.task.id} at ${at} ${fault}`);
    }
    const { body } = await deployment.call('GET', `/a2a/talk/tasks?contextId=${one.contextId}`, { headers: VERSION });
    const { tasks = [] } = (body ?? {}) as { tasks?: A2aTask[] };
    const open = tasks.filter(({ status }) => !hasEnded(status.state) && status.state !== 'TASK_STATE_INPUT_REQUIRED');
    // A message that was sent again, because nobody knew of its task, may have begun another.
    if (tasks.length === 0 || tasks.length > one.attempts || open.length > 0) {
      wrong.push(`context ${one.contextId} has ${tasks.length} tasks after ${one.attempts} messages`);
    }
  }
  bench.measureNone('tasks that did not end with their whole answer everywhere', wrong, ended.length, needed);
  const ends = new Map<string, number>();
  for (const { runId, to } of await deployment.audit.statusChanges()) {
    if (to !== null && TERMINAL.includes(to)) ends.set(runId, (ends.get(runId) ?? 0) + 1);
  }
  const twice = [...ends].filter(([, count]) => count > 1).map(([runId, count]) => `${runId} ended ${count} times`);
  bench.measureNone('runs of tasks that ended twice', twice, ends.size, needed);
}

const VERSION = { 'a2a-version': '1.0' };
