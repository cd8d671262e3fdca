import { setTimeout as pause } from 'node:timers/promises';
import type { RunStatistics, Usage } from '@runyard/contracts';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { expect, it, onTestFinished } from 'vitest';
import { runEvent, successOf, TestHistory } from './support/history.ts';

/** Each of them has three events, and every tenth one two more. */
const RUNS = 4_000;
const CHUNK = 100;
const KILLS = 4;
const CACHED = { cache_read_tokens: 0, cache_creation_tokens: 0, reasoning_tokens: 0 };
const USED = {
  attempt: 1,
  models: [
    { provider: 'openai', model: 'small', calls: 2, failed: 0, input_tokens: 100, output_tokens: 10, ...CACHED },
  ],
  tools: [{ name: 'look', calls: 1, failed: 0 }],
};

it.each(['kafka', 'redis'] as const)(
  'every run is in the journal and counted once over %s, whatever is killed or cut meanwhile',
  async (bus) => {
    const history = await TestHistory.start({ bus, hasOwnProcess: true });
    onTestFinished(() => history.close());
    const deploymentId = await history.addDeployment();
    const breaking = breakThings(history);
    for (let made = 0; made < RUNS; made += CHUNK) {
      const runs = Array.from({ length: CHUNK }, () => history.newRun(deploymentId));
      await history.publish(
        ...runs.flatMap((run, index) =>
          index % 10 > 0
            ? successOf(run).toSpliced(2, 0, runEvent(run, 'used', USED, 15))
            : [
                runEvent(run, 'created', { graph_id: 'agent', metadata: {} }),
                runEvent(run, 'started', { attempt: 1 }, 10),
                runEvent(run, 'retried', { attempt: 1, reason: 'worker_lost' }, 20),
                runEvent(run, 'started', { attempt: 2 }, 30),
                runEvent(run, 'finished', { attempt: 2, status: 'error', error: { error: 'E', message: 'm' } }, 40),
              ],
        ),
      );
      await pause(50);
    }
    await breaking;
    await waitFor(() =>
      withDatabaseClient(history.database.url, async (client) => {
        const { rows } = await client.query('SELECT count(*)::int AS ended FROM run WHERE ended_at IS NOT NULL');
        return rows[0].ended === RUNS;
      }),
    );
    const body = { start_time: new Date(Date.now() - 3_600_000).toISOString(), step: 'minute' };
    const { body: statistics } = await history.call<RunStatistics>('POST', '/v2/runs/statistics', { body });
    expect(statistics.total).toMatchObject({
      ...{ created: RUNS, success: RUNS * 0.9, error: RUNS * 0.1, retried: RUNS * 0.1, timeout: 0, interrupted: 0 },
    });
    const asked = { start_time: body.start_time, step: 'all' };
    const { body: usage } = await history.call<Usage>('POST', '/v2/runs/usage', { body: asked });
    expect(usage.total).toMatchObject({
      runs: RUNS,
      model_calls: RUNS * 0.9 * 2,
      tool_calls: RUNS * 0.9,
      total_tokens: RUNS * 0.9 * 110,
    });
    expect(await countOf(history, 'run_attempt')).toBe(RUNS * 0.2);
    expect(await countOf(history, 'run')).toBe(RUNS);
  },
);

/** Kills the process and cuts its connections to the database in turn. */
async function breakThings(history: TestHistory): Promise<void> {
  for (let kill = 0; kill < KILLS; kill += 1) {
    await pause(300 + Math.random() * 700);
    history.databaseLine.reset();
    await pause(100 + Math.random() * 400);
    await history.killService();
    await history.startService();
  }
}

async function countOf(history: TestHistory, table: string): Promise<number> {
  return withDatabaseClient(history.database.url, async (client) => {
    const { rows } = await client.query(`SELECT count(*)::int AS count FROM ${table}`);
    return rows[0].count as number;
  });
}
