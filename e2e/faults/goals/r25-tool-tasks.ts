import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import { oldRequest, resultOf } from '../bench/tasks/mcp/mcp-requests.ts';
import { faultOfTask, McpTaskClients, REVISIONS } from '../bench/tasks/mcp/mcp-task-clients.ts';
import type { McpTask } from '../bench/tasks/mcp/task-conversation.ts';
import { killEverything, measureEnds, startTaskDeployment } from '../bench/tasks/task-deployment.ts';

const CLIENTS = { fast: 6, full: 20 };
/** Tasks of each revision that have to have ended. */
const NEEDED = { fast: 5, full: 50 };

export const goal: Goal = {
  id: 'R25',
  title:
    'Every task that a call of a tool (MCP) has become ends once, with its whole result at every process, whoever is killed: each question gets one answer, which counts once, and what was answered stays so.',
  async run(bench) {
    const tasks = await startTaskDeployment(bench);
    const { deploymentUrl: url, headers } = tasks.gateway;
    const clients = new McpTaskClients(bench.size(CLIENTS), { url, headers, random: bench.random.fork('clients') });
    await killEverything(bench, tasks);
    await clients.stop();
    const { ended, cuts, answers, faults } = clients;
    bench.log(`${ended.length} tasks, ${answers} answers sent, ${cuts} requests and streams cut`);
    bench.measureEnough('requests and streams cut before their end', cuts, bench.size({ fast: 10, full: 50 }));
    bench.measureEnough('answers sent to questions', answers, bench.size({ fast: 10, full: 100 }));
    for (const revision of REVISIONS) {
      const count = ended.filter((task) => task.revision === revision).length;
      bench.measureEnough(`tasks of revision ${revision.name} that ended`, count, bench.size(NEEDED));
    }
    const needed = 2 * bench.size(NEEDED);
    bench.measureNone('calls and tasks that did not end for their client', faults, ended.length, needed);
    await measureTasks(bench, tasks.deployment, clients, needed);
  },
};

/**
 * Measures what is left in the end: every process shows every task as its client got it, again and again, with one run
 * for its call and one for each round of answers, each of which ended once.
 */
async function measureTasks(
  bench: Bench,
  deployment: BenchDeployment,
  { ended }: McpTaskClients,
  needed: number,
): Promise<void> {
  await deployment.audit.untilAllEnded(60_000);
  const wrong: string[] = [];
  for (const task of ended) {
    for (const at of deployment.agentApis.keys()) {
      const fault = await faultOfTask(task, { url: deployment.url(at), headers: {} });
      if (fault) wrong.push(`task ${task.taskId} of ${task.revision.name} at ${at} ${fault}`);
    }
  }
  bench.measureNone('tasks that did not end with their whole result everywhere', wrong, ended.length, needed);
  const runs = await countRuns(deployment);
  const uneven = ended.filter(({ taskId, call }) => runs.get(taskId) !== call.runs);
  bench.measureNone(
    'tasks with more or fewer runs than rounds of answers',
    uneven.map(({ taskId, call }) => `task ${taskId} has ${runs.get(taskId)} runs instead of ${call.runs}`),
    ended.length,
    needed,
  );
  const listed = await listTasks(deployment);
  const unlisted = ended.filter(({ taskId }) => listed.filter((each) => each === taskId).length !== 1);
  const names = unlisted.map(({ taskId }) => taskId);
  bench.measureNone('tasks that are not in the list, or twice', names, ended.length, needed);
  await measureEnds(bench, deployment, needed);
}

/** Returns the number of runs of each task, by its id. */
async function countRuns({ pool }: BenchDeployment): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ id: string; count: number }>(
    `SELECT metadata->>'task_id' AS id, count(*)::int AS count FROM run WHERE metadata ? 'task_id' GROUP BY id`,
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** Returns the ids of all tasks, page by page. */
async function listTasks(deployment: BenchDeployment): Promise<string[]> {
  const target = { url: deployment.url(), headers: {} };
  const ids: string[] = [];
  let cursor: unknown;
  do {
    const page = await resultOf(
      target,
      oldRequest('tasks/list', { ...(cursor !== undefined && { cursor }) }, undefined),
    );
    if (!page) throw new Error('the tasks cannot be listed');
    ids.push(...(page.tasks as McpTask[]).map(({ taskId }) => taskId));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return ids;
}
