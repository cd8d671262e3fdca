import { waitFor } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import { CutStreams } from '../bench/cut-streams.ts';
import type { BenchDeployment, BenchRun } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import type { LedgerEntry } from '../bench/ledger.ts';
import { measureRuns } from '../bench/outage-checks.ts';
import { StoreFaults } from '../bench/store-faults.ts';

/** Clients that create one run after the other. */
const CLIENTS = 24;
const STEPS = 3;
const STREAMED = { steps: STEPS, sleepMs: 50, events: 5 };
const RATE = 0.05;
const SETTLE_MS = 90_000;

export const goal: Goal = {
  id: 'R20',
  title: 'When one database call in twenty fails, before or after it took effect, every promise about runs holds.',
  async run(bench) {
    let faults: StoreFaults | undefined;
    const deployment = await bench.deployment({
      workers: 2,
      bus: 'redis',
      env: { N_JOBS_PER_WORKER: '20' },
      reachDatabase: async (url) => {
        const line = await StoreFaults.to(url, { rate: RATE, random: bench.random.fork('store') });
        bench.onClose(() => line.close());
        faults = line;
        return line.url;
      },
    });
    if (!faults) throw new Error('nothing stands before the database');
    const wanted = bench.size({ fast: 250, full: 5_000 });
    const neededStreams = wanted / 100;

    faults.isOn = true;
    const streams = new CutStreams({
      ledger: deployment.ledger,
      random: bench.random.fork('streams'),
      input: STREAMED,
      clients: 4,
      urls: () => [deployment.url()],
    });
    const { kept, cancelled } = await load(bench, deployment, wanted);
    const streamed = () => streams.accepted.length;
    // They come slower than runs do.
    await waitFor(() => streamed() >= neededStreams, { timeoutMs: 180_000, what: `${neededStreams} streams` });
    await streams.stop();
    await deployment.audit.untilAllEnded(SETTLE_MS);
    faults.isOn = false;
    const { calls, before, after } = faults.counts;
    bench.log(`${calls} calls, ${before} failed before and ${after} after they took effect`);

    await measureRuns(bench, deployment, [...kept, ...streams.accepted], wanted * 0.8);
    const what = 'streams with events missing, repeated or out of order';
    bench.measureNone(what, streams.faults, streamed(), neededStreams);
    bench.measureNone(
      'cancelled runs that are not as ordered',
      await notAsOrdered(deployment, cancelled),
      cancelled.length,
    );
    const entries = await deployment.ledger.entries();
    bench.measureNone('steps executed twice in one attempt', executedTwice(entries), entries.length / 2);
    const all = await otherViolations(deployment);
    for (const [what, found] of Object.entries(all)) bench.measureNone(what, found, kept.length + cancelled.length);
    const failures = deployment.history.failures().map(({ method, path, status }) => `${method} ${path}: ${status}`);
    bench.measureNone('answers of 500 and above other than 503', failures, deployment.history.calls.length);
    bench.measure({
      what: 'share of calls failed',
      measured: ((before + after) / calls) * 100,
      limit: 4,
      unit: '%',
      samples: calls,
      needed: wanted,
      atLeast: true,
    });
    bench.measureEnough('calls failed after they took effect', after, wanted / 20);
  },
};

interface CancelledRun extends BenchRun {
  action: 'interrupt' | 'rollback';
}

/** Creates runs until as many as wanted are accepted, and cancels every tenth, in one way or the other. */
async function load(
  bench: Bench,
  deployment: BenchDeployment,
  wanted: number,
): Promise<{ kept: BenchRun[]; cancelled: CancelledRun[] }> {
  const kept: BenchRun[] = [];
  const cancelled: CancelledRun[] = [];
  let begun = 0;
  const client = async () => {
    while (kept.length + cancelled.length < wanted) {
      begun += 1;
      const isCancelled = begun % 10 === 0;
      const run = await deployment.createRun({ steps: STEPS, ...(isCancelled && { sleepMs: 200 }) });
      if (!run) continue;
      if (!isCancelled) kept.push(run);
      else {
        const action = bench.random.pick(['interrupt', 'rollback'] as const);
        if (await cancel(deployment, run, action)) cancelled.push({ ...run, action });
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return { kept, cancelled };
}

/** Retries until the outcome is known: true once the order was accepted, or is found to have been. */
async function cancel(deployment: BenchDeployment, run: BenchRun, action: string): Promise<boolean> {
  const path = `/threads/${run.threadId}/runs/${run.runId}/cancel?action=${action}`;
  for (;;) {
    const { outcome, status } = await deployment.call('POST', path);
    if (outcome === 'ok') return true;
    // The run has ended: by itself, or by an accepted order without an answer.
    if (status === 404) return false;
  }
}

async function notAsOrdered(deployment: BenchDeployment, runs: CancelledRun[]): Promise<string[]> {
  const ids = runs.map(({ runId }) => runId);
  const { rows } = await deployment.pool.query<{ id: string; status: string | null; checkpoints: number }>(
    `SELECT i.id, r.status, (SELECT count(*)::int FROM checkpoint c WHERE c.run_id = i.id)
              + (SELECT count(*)::int FROM checkpoint_write w WHERE w.run_id = i.id) AS checkpoints
     FROM unnest($1::uuid[]) AS i (id) LEFT JOIN run r ON r.run_id = i.id`,
    [ids],
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  return runs.flatMap(({ runId, action }) => {
    const { status, checkpoints } = found.get(runId)!;
    // A run that never began stays, interrupted, whichever the action.
    const isGone = status === null && action === 'rollback';
    if (!isGone && status !== 'interrupted') return [`${runId} was to ${action} and is ${status}`];
    return action === 'rollback' && checkpoints > 0 ? [`${runId} was rolled back and left ${checkpoints} rows`] : [];
  });
}

function executedTwice(entries: readonly LedgerEntry[]): string[] {
  const seen = new Set<string>();
  const twice: string[] = [];
  for (const { run, step, attempt, what } of entries) {
    if (what !== 'begun') continue;
    const name = `${run} attempt ${attempt} step ${step}`;
    if (seen.has(name)) twice.push(name);
    seen.add(name);
  }
  return twice;
}

/** Returns what no run or thread may have, also those whose acceptance nobody knows of. */
async function otherViolations({ pool }: BenchDeployment): Promise<Record<string, string[]>> {
  const ask = async (text: string) => (await pool.query<{ found: string }>(text)).rows.map(({ found }) => found);
  return {
    'runs ended more than once': await ask(
      `SELECT run_id::text AS found FROM bench_status_change
       WHERE new IN ('success', 'error', 'timeout', 'interrupted') GROUP BY run_id HAVING count(*) > 1`,
    ),
    'runs that failed': await ask(
      `SELECT run_id || ' ' || error::text AS found FROM run WHERE status IN ('error', 'timeout')`,
    ),
    'threads busy with nothing': await ask(`SELECT thread_id::text AS found FROM thread WHERE status = 'busy'`),
    'fences that are held by nobody': await ask(
      'SELECT thread_id::text AS found FROM thread_fence WHERE run_id IS NOT NULL',
    ),
    'blobs of no checkpoint': await ask(
      `SELECT thread_id || ' ' || channel AS found FROM checkpoint_blob b WHERE NOT EXISTS (
         SELECT 1 FROM checkpoint c WHERE c.thread_id = b.thread_id AND c.checkpoint_ns = b.checkpoint_ns
           AND c.checkpoint_id = b.checkpoint_id)`,
    ),
  };
}
