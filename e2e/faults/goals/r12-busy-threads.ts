import { randomUUID } from 'node:crypto';
import { openEngine } from '../../../packages/run-engine/test/engine-fixture.ts';
import { agreesWithModel, MAX_FAILURES } from '../../../packages/run-engine/test/model-comparison.ts';
import { ModelThread } from '../../../packages/run-engine/test/reference-model.ts';
import type { Bench } from '../bench/bench.ts';
import type { StatusChange } from '../bench/database-audit.ts';
import type { BenchDeployment } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';

const STRATEGIES = ['enqueue', 'reject', 'interrupt', 'rollback'] as const;
type Strategy = (typeof STRATEGIES)[number];
/** Concurrent comparisons of sequences, each engine on a database of its own. */
const LANES = 2;
const ENDED_WITHIN_MS = 60_000;

export const goal: Goal = {
  id: 'R12',
  title:
    'However many runs are created on a thread at once, one runs at a time, and all come out as a model of a hundred lines says.',
  pythonTier: 'full',
  async run(bench) {
    await createAtOnce(bench);
    await compareSequences(bench);
  },
};

/**
 * Runs on real processes: the model gets the creates in the order they took effect, and each claim and end as it
 * happened.
 */
async function createAtOnce(bench: Bench): Promise<void> {
  const deployment = await bench.deployment({ agentApis: 2, workers: 2, bus: 'redis' });
  const perThread = bench.size({ fast: 12, full: 50 });
  const rounds = bench.size({ fast: 1, full: 3 });
  const threads: { threadId: string; strategies: Strategy[] }[] = [];
  for (const strategy of STRATEGIES) threads.push({ threadId: randomUUID(), strategies: [strategy] });
  for (let round = 0; round < rounds; round += 1) threads.push({ threadId: randomUUID(), strategies: [...STRATEGIES] });

  const accepted = new Map<string, Accepted>();
  const surprises: string[] = [];
  const create = async (threadId: string, strategy: Strategy, at: number) => {
    const input = { steps: 2, sleepMs: bench.random.integer(0, 40) };
    const body = deployment.ledger.runRequest(input, { multitask_strategy: strategy });
    const { status, body: run } = await deployment.call('POST', `/threads/${threadId}/runs`, { at, body });
    if (status === 200) accepted.set((run as { run_id: string }).run_id, { threadId, strategy });
    else if (status !== 409 || strategy !== 'reject') surprises.push(`${strategy}: ${status}`);
  };
  await Promise.all(
    threads.flatMap(({ threadId, strategies }) =>
      Array.from({ length: perThread }, (_, index) => create(threadId, bench.random.pick(strategies), index % 2)),
    ),
  );
  await deployment.audit.untilAllEnded(ENDED_WITHIN_MS);

  const samples = threads.length * perThread;
  bench.log(`${accepted.size} of ${samples} runs were accepted`);
  bench.measureNone('creates that were answered otherwise than the strategy says', surprises, samples);
  const changes = await deployment.audit.statusChanges();
  const differences: string[] = [];
  for (const { threadId } of threads) {
    const ofThread = changes.filter(({ runId }) => accepted.get(runId)?.threadId === threadId);
    const model = new ModelThread(Number.POSITIVE_INFINITY);
    differences.push(...replay(model, ofThread, accepted), ...(await differencesAtTheEnd(deployment, threadId, model)));
  }
  // Each thread has at least its first one.
  const needed = threads.length;
  bench.measureNone('differences from the model, two running runs among them', differences, accepted.size, needed);
}

interface Accepted {
  threadId: string;
  strategy: Strategy;
}

/**
 * Replays the changes in the model. The order in which rows changed is the order in which things happened: those of a
 * thread are changed under its lock.
 */
function replay(model: ModelThread, changes: StatusChange[], accepted: ReadonlyMap<string, Accepted>): string[] {
  const differences: string[] = [];
  for (const { runId, from, to } of changes) {
    if (from === null) {
      const { strategy } = accepted.get(runId)!;
      if (!model.create(runId, strategy)) differences.push(`${runId} was accepted on a busy thread (${strategy})`);
    } else if (to === 'running') {
      const next = model.claim()?.runId;
      if (next !== runId) differences.push(`${runId} began, and the model begins ${next}`);
    } else if (from === 'running') {
      if (model.running?.runId !== runId)
        differences.push(`${runId} ended, and the model runs ${model.running?.runId}`);
      else if (to === 'pending') model.lose();
      else model.finish(to === 'error' ? 'error' : 'success');
    }
  }
  return differences;
}

async function differencesAtTheEnd({ pool }: BenchDeployment, threadId: string, model: ModelThread): Promise<string[]> {
  const { rows: runs } = await pool.query('SELECT run_id, status FROM run WHERE thread_id = $1 ORDER BY seq', [
    threadId,
  ]);
  const { rows: thread } = await pool.query('SELECT status FROM thread WHERE thread_id = $1', [threadId]);
  const found = JSON.stringify([thread[0]?.status, runs.map(({ run_id, status }) => [run_id, status])]);
  const expected = JSON.stringify([model.status, model.runs.map(({ runId, status }) => [runId, status])]);
  return found === expected ? [] : [`thread ${threadId} is ${found}, in the model ${expected}`];
}

async function compareSequences(bench: Bench): Promise<void> {
  const sequences = bench.size({ fast: 40, full: 1_000 });
  const differences: string[] = [];
  const lane = async (index: number) => {
    const fixture = await openEngine({ maxFailures: MAX_FAILURES });
    try {
      const seed = bench.random.fork(`sequences ${index}`).integer(0, 2 ** 31 - 1);
      await agreesWithModel(fixture, { sequences: Math.ceil(sequences / LANES), seed });
    } catch (error) {
      differences.push((error as Error).message);
    } finally {
      await fixture.close();
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
  bench.measureNone('random sequences on which the engine and the model differ', differences, sequences);
}
