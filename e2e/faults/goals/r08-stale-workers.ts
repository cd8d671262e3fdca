import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '@runyard/test-kit';
import { type Attempt, groupAttempts } from '../bench/attempts.ts';
import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment, BenchRun } from '../bench/deployment.ts';
import { followStream } from '../bench/event-follower.ts';
import type { Goal } from '../bench/goal.ts';
import { Interviews } from '../bench/interviews.ts';
import { measureRuns } from '../bench/outage-checks.ts';
import type { Part } from '../bench/part.ts';

/** The default lease, except where time is short. */
const LEASE_SECONDS = { fast: 3, full: 10 };
const LEASES = 3;
const SLOTS = 40;
/** Threads with questions and answers beside the runs of a round. */
const INTERVIEWS = { atOnce: 6, sleepMs: 1_000 };
/**
 * Each step writes all that a run can write. It lasts so long that runs are still in flight on the other worker when
 * their first worker resumes.
 */
const INPUT = { steps: 14, events: 2, stores: true };
const SLEEP_MS = { fast: 400, full: 2_000 };
/** An aborted host may still have to leave a step. */
const STOPS_WITHIN_SECONDS = 2;

/** A run whose worker was frozen, with the time since when that worker runs again. */
interface StaleRun extends BenchRun {
  staleWorker: number;
  resumedAt: number;
}

export const goal: Goal = {
  id: 'R8',
  title: 'A worker that stood still and goes on writes nothing more of what others have taken over.',
  isFast: true,
  canHaveUsers: true,
  pythonTier: 'fast',
  async run(bench) {
    const env = {
      ...(bench.tier === 'fast' && { WORKER_LEASE_SECONDS: String(LEASE_SECONDS.fast) }),
      BG_JOB_MAX_RETRIES: '100',
    };
    const deployment = await bench.deployment({
      workers: 2,
      env: { ...env, N_JOBS_PER_WORKER: String(SLOTS + INTERVIEWS.atOnce) },
    });
    const other = await bench.deployment({ env });
    await Promise.all([staleWorkers(bench, deployment), blockedNode(bench, other)]);
  },
};

async function staleWorkers(bench: Bench, deployment: BenchDeployment): Promise<void> {
  const wanted = bench.size({ fast: 20, full: 200 });
  const runs: BenchRun[] = [];
  const stale: StaleRun[] = [];
  const streams = { foreign: [] as string[], seen: 0 };
  const interviews = new Interviews(deployment, bench.random.fork('interviews'));
  // Most items are overwritten by the attempt that executes the same step again, on a busy machine sometimes all of a
  // round.
  while (stale.length < wanted || (await itemsOf(deployment, stale)).length === 0) {
    let isOver = false;
    // These start before the runs, which take all the slots of the worker that will be frozen.
    const interviewing = Array.from({ length: INTERVIEWS.atOnce }, async () => {
      while (!isOver) await interviews.hold(INTERVIEWS);
    });
    const round = await createRuns(bench, deployment, Math.min(2 * SLOTS, 2 * Math.max(1, wanted - stale.length)));
    runs.push(...round);
    const held = await standStill(bench, deployment, round);
    isOver = true;
    stale.push(...held);
    await Promise.all(interviewing);
    await deployment.audit.untilAllEnded(60_000);
    // The streams are read while their events are still kept.
    await readStreams(deployment, held, streams);
  }
  bench.measureNone('foreign events', streams.foreign, streams.seen, wanted);
  bench.log(`${stale.length} stale runs of ${runs.length}`);
  await measureRuns(bench, deployment, runs, wanted);
  await measureWrites(bench, deployment, stale);
  await measureStops(bench, deployment, stale);
  await measureRefusals(bench, deployment);
  // All of one round may be on the other worker.
  interviews.measure(bench, bench.tier === 'full' ? 1 : 0);
}

async function createRuns({ tier }: Bench, deployment: BenchDeployment, count: number): Promise<BenchRun[]> {
  const run = { stream_resumable: true, stream_mode: ['custom'] };
  const input = { ...INPUT, sleepMs: SLEEP_MS[tier] };
  const created = await Promise.all(Array.from({ length: count }, () => deployment.createRun(input, { run })));
  return created.filter((each) => each !== undefined);
}

/**
 * Freezes a worker once its runs have begun and stored a checkpoint, until the other has had them for a while. Returns
 * the runs it had.
 */
async function standStill({ tier }: Bench, deployment: BenchDeployment, round: BenchRun[]): Promise<StaleRun[]> {
  const ids = new Set(round.map(({ runId }) => runId));
  const latest = async () => {
    const attempts = groupAttempts(await deployment.ledger.byRun());
    return [...attempts].filter(([run]) => ids.has(run)).map(([, each]) => each.at(-1)!);
  };
  /** Returns the latest attempts of the runs that have a checkpoint: on a busy machine that comes long after a step. */
  const stored = async () => {
    const { rows } = await deployment.pool.query<{ run_id: string }>(
      'SELECT DISTINCT run_id FROM checkpoint WHERE run_id = ANY($1::uuid[])',
      [[...ids]],
    );
    const storedIds = new Set(rows.map(({ run_id }) => run_id));
    return (await latest()).filter(({ run }) => storedIds.has(run));
  };
  await waitFor(async () => (await stored()).filter(({ steps }) => steps.length > 1).length > round.length / 2, {
    timeoutMs: 60_000,
    what: 'the runs to be at work',
  });
  const worker = busiest(deployment, await stored());
  worker.pause();
  const { rows } = await deployment.pool.query<{ run_id: string }>(
    `SELECT run_id FROM run WHERE status = 'running' AND run_id = ANY($1::uuid[]) AND run_id = ANY($2::uuid[])`,
    [[...ids], (await stored()).filter((attempt) => attempt.worker === worker.pid).map(({ run }) => run)],
  );
  const held = new Set(rows.map(({ run_id }) => run_id));
  await pause(LEASES * LEASE_SECONDS[tier] * 1_000);
  await waitFor(async () => (await latest()).every(({ run, attempt }) => !held.has(run) || attempt > 1), {
    timeoutMs: 30_000,
    what: 'the other worker to have the runs',
  });
  worker.resume();
  const resumedAt = Date.now();
  return round.filter(({ runId }) => held.has(runId)).map((run) => ({ ...run, staleWorker: worker.pid, resumedAt }));
}

function busiest({ workers }: BenchDeployment, attempts: Attempt[]): Part {
  const runsOf = ({ pid }: Part) => attempts.filter(({ worker }) => worker === pid).length;
  return workers.reduce((most, worker) => (runsOf(worker) > runsOf(most) ? worker : most));
}

const TAKEN_OVER = `(SELECT run_id, min(at) AS at FROM bench_status_change
  WHERE old = 'running' AND new = 'pending' GROUP BY run_id)`;

/** A write of a stale attempt, and whether it was made after the take-over. */
interface Written {
  name: string;
  late: boolean;
}

/** Measures checkpoints and items of the stale attempt that were made after the take-over. */
async function measureWrites(bench: Bench, deployment: BenchDeployment, stale: StaleRun[]): Promise<void> {
  /** Measures that the first attempts wrote something, and nothing after the take-over. */
  const none = (what: string, needed: number, written: Written[]) => {
    const late = written.filter((each) => each.late).map(({ name }) => name);
    bench.measureNone(`${what} of stale attempts after the take-over`, late, written.length, needed);
  };
  none('checkpoints', stale.length, await checkpointsOf(deployment, stale));
  none('items', 1, await itemsOf(deployment, stale));
}

function checkpointsOf(deployment: BenchDeployment, stale: StaleRun[]): Promise<Written[]> {
  return writtenBy(
    deployment,
    stale,
    `SELECT c.run_id || ' has ' || c.checkpoint_id AS name, c.created_at > t.at AS late
     FROM checkpoint c JOIN ${TAKEN_OVER} t USING (run_id)
     WHERE c.run_id = ANY($1::uuid[]) AND c.metadata->>'run_attempt' = '1'`,
  );
}

function itemsOf(deployment: BenchDeployment, stale: StaleRun[]): Promise<Written[]> {
  return writtenBy(
    deployment,
    stale,
    `SELECT i.namespace[2] || ' has ' || i.key AS name, i.updated_at > t.at AS late
     FROM store_item i JOIN ${TAKEN_OVER} t ON t.run_id::text = i.namespace[2]
     WHERE t.run_id = ANY($1::uuid[]) AND i.value->>'attempt' = '1'`,
  );
}

async function writtenBy(deployment: BenchDeployment, stale: StaleRun[], text: string): Promise<Written[]> {
  return (await deployment.pool.query<Written>(text, [stale.map(({ runId }) => runId)])).rows;
}

/** Reads the stream as a client: nothing of an earlier attempt comes behind the beginning of a later one. */
async function readStreams(
  deployment: BenchDeployment,
  stale: StaleRun[],
  found: { foreign: string[]; seen: number },
): Promise<void> {
  for (const { runId, threadId } of stale) {
    const path = `/threads/${threadId}/runs/${runId}/stream`;
    const { events } = await followStream(deployment.url() + path, {
      headers: deployment.headersFor(path),
      lastEventId: '-1',
      signal: AbortSignal.timeout(10_000),
    });
    let newest = 0;
    for (const { event, data, id } of events) {
      const { attempt } = data as { attempt?: number };
      if (attempt === undefined || (event !== 'custom' && event !== 'metadata')) continue;
      found.seen += 1;
      if (attempt < newest) found.foreign.push(`${runId}: ${id} is of attempt ${attempt}, behind one of ${newest}`);
      newest = Math.max(newest, attempt);
    }
    if (newest < 2) found.foreign.push(`${runId}: no event of a second attempt among ${events.length}`);
  }
}

/** Measures that the host of a stale run is stopped as soon as its worker resumes. */
async function measureStops(bench: Bench, deployment: BenchDeployment, stale: StaleRun[]): Promise<void> {
  const byRun = await deployment.ledger.byRun();
  const late = stale.map(({ runId, staleWorker, resumedAt }) => {
    const begun = (byRun.get(runId) ?? []).filter(
      ({ worker, what, attempt }) => worker === staleWorker && attempt === 1 && what === 'begun',
    );
    return Math.max(0, ...begun.map(({ at }) => at - resumedAt)) / 1_000;
  });
  const measured = Math.max(0, ...late);
  const what = 'goes on → its hosts begin nothing more, max';
  const samples = late.length;
  bench.measure({ what, measured, limit: STOPS_WITHIN_SECONDS, unit: 's', samples, needed: stale.length });
}

/** Measures that there was something to refuse, of each kind. */
async function measureRefusals(bench: Bench, deployment: BenchDeployment): Promise<void> {
  const texts = await Promise.all(deployment.workers.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()));
  // With few runs there may be none that reaches the write of an event: the host learns of the loss too.
  const limit = bench.tier === 'full' ? 1 : 0;
  for (const kind of ['checkpoint', 'event', 'store']) {
    const pattern = new RegExp(`^\\S*stale_writes_refused_total\\{.*kind="${kind}".*\\} (\\d+)`, 'm');
    const refused = texts.reduce((sum, text) => sum + Number(pattern.exec(text)?.[1] ?? 0), 0);
    const what = `stale ${kind} writes refused`;
    bench.measureEnough(what, refused, limit);
  }
}

/** Checks that a node that blocks its event loop for longer than many leases keeps its run, and ends it well. */
async function blockedNode(bench: Bench, deployment: BenchDeployment): Promise<void> {
  const blockMs = bench.size({ fast: 6, full: 30 }) * 1_000;
  const body = { assistant_id: 'poison', input: { how: 'block', blockMs } };
  const wrong: string[] = [];
  const times = bench.size({ fast: 1, full: 4 });
  // They run one after the other, because each takes a core.
  for (let count = 0; count < times; count += 1) {
    const call = await deployment.call('POST', '/runs/wait', { body, timeoutMs: blockMs + 30_000 });
    if (call.outcome !== 'ok') wrong.push(`${call.status} ${call.error}`);
  }
  const { rows } = await deployment.pool.query<{ name: string; status: string; attempt: number }>(
    'SELECT run_id AS name, status, attempt FROM run',
  );
  for (const { name, status, attempt } of rows)
    if (status !== 'success' || attempt > 1) wrong.push(`${name} is ${status} in attempt ${attempt}`);
  bench.measureNone(`runs lost by a node that blocked ${blockMs / 1_000} s`, wrong, rows.length, times);
}
