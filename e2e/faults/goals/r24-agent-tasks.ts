import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import { A2aTaskClients, faultOfTask } from '../bench/tasks/a2a/a2a-task-clients.ts';
import { type A2aTask, hasEnded } from '../bench/tasks/a2a/task-forms.ts';
import { killEverything, measureEnds, startTaskDeployment } from '../bench/tasks/task-deployment.ts';

const CLIENTS = { fast: 6, full: 20 };

export const goal: Goal = {
  id: 'R24',
  title:
    'Every task of another agent (A2A) ends once, with its whole answer, whoever is killed: a message that is sent again begins no other task, and a subscription brings no part twice, and misses none unless Redis is emptied, or a worker is killed with parts that are stored and not published: of those the thread tells by a gap.',
  async run(bench) {
    const tasks = await startTaskDeployment(bench);
    const { deploymentUrl: url, headers } = tasks.gateway;
    const clients = new A2aTaskClients(bench.size(CLIENTS), { url, headers, random: bench.random.fork('clients') });
    const beforeRedis = () => {
      clients.mayLoseParts = true;
    };
    await killEverything(bench, tasks, { beforeRedis });
    await clients.stop();
    const subscriptions = `${clients.whole} subscriptions to their end, ${clients.cuts} cut, ${clients.toldLosses} told of a loss`;
    bench.log(`${clients.ended.length} tasks, ${subscriptions}`);
    bench.measureEnough('messages sent again', clients.repeats, bench.size({ fast: 10, full: 100 }));
    bench.measureEnough('subscriptions cut that came back', clients.cuts, bench.size({ fast: 10, full: 50 }));
    const needed = bench.size({ fast: 10, full: 100 });
    bench.measureEnough('subscriptions that came to the end of an answer', clients.whole, needed);
    bench.measureNone('tasks and subscriptions that were not as they should be', clients.faults, clients.ended.length);
    await measureTasks(bench, tasks.deployment, clients, needed);
  },
};

/** Measures what is left in the end: every process shows every task in the same way, and each of their runs ended once. */
async function measureTasks(
  bench: Bench,
  deployment: BenchDeployment,
  { ended }: A2aTaskClients,
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
    if (tasks.length !== 1 || !hasEnded(tasks[0]?.status.state)) {
      wrong.push(`context ${one.contextId} has ${tasks.length} tasks after one message`);
    }
  }
  bench.measureNone('tasks that did not end with their whole answer everywhere', wrong, ended.length, needed);
  await measureEnds(bench, deployment, needed);
}

const VERSION = { 'a2a-version': '1.0' };
