import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '@runyard/test-kit';
import { type Attempt, groupAttempts } from '../bench/attempts.ts';
import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment, BenchRun } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import { Interviews } from '../bench/interviews.ts';
import { measureRuns } from '../bench/outage-checks.ts';

const WORKERS = 3;
/** A run lasts for some seconds, so that most kills hit some. */
const INPUT = { steps: 12, sleepMs: 400 };
/**
 * Runs that are pending or running at a time: as many as two workers have slots for, so that waiting for a slot is
 * never measured.
 */
const AT_ONCE = 15;
/** Concurrent threads with questions and answers beside the runs. */
const INTERVIEWS_AT_ONCE = 3;

/** Milliseconds that the host of a killed worker may take to notice, on a busy machine. */
const HEARS_WITHIN_MS = 2_000;

/** The time of each kill by process id, in milliseconds since 1970. */
type Kills = Map<number, number>;

export const goal: Goal = {
  id: 'R1',
  title:
    'A killed worker costs time, never a run, a checkpoint, an answer to an interrupt, or a step that was recorded twice.',
  isFast: true,
  canHaveUsers: true,
  pythonTier: 'fast',
  async run(bench) {
    const deployment = await bench.deployment({
      workers: WORKERS,
      env: {
        // The lease is the default one, except where time is short.
        ...(bench.tier === 'fast' && { WORKER_LEASE_SECONDS: '5' }),
        // R16 covers runs that are given up when they lose three workers without progress.
        BG_JOB_MAX_RETRIES: '100',
      },
    });
    const wanted = { runs: bench.size({ fast: 24, full: 300 }), kills: bench.size({ fast: 5, full: 100 }) };
    const interviews = new Interviews(deployment, bench.random.fork('interviews'));
    const cutRuns = Math.floor(wanted.kills / 4);
    const { kills, runs } = await killWorkers(bench, deployment, { ...wanted, interviews, cutRuns });
    await deployment.audit.untilAllEnded(120_000);
    bench.measureEnough('workers killed', kills.size, wanted.kills);
    await measureRuns(bench, deployment, runs, wanted.runs);
    const attempts = groupAttempts(await deployment.ledger.byRun());
    measureExecutions(bench, attempts, kills);
    await measureStarts(bench, deployment, attempts);
    measureResumptions(bench, attempts, kills);
    interviews.measure(bench, cutRuns);
  },
};

/**
 * Kills each worker again and again, all of them concurrently, while runs keep coming: as often as wanted, and until
 * enough kills have met a question or an answer, which a few may all miss.
 */
async function killWorkers(
  bench: Bench,
  deployment: BenchDeployment,
  wanted: { runs: number; kills: number; interviews: Interviews; cutRuns: number },
): Promise<{ kills: Kills; runs: BenchRun[] }> {
  const kills: Kills = new Map();
  const runs: BenchRun[] = [];
  let isOver = false;
  const createMore = async () => {
    let free = AT_ONCE - (await deployment.audit.unfinished());
    for (; free > 0; free -= 1) {
      const run = await deployment.createRun(INPUT);
      if (run) runs.push(run);
    }
  };
  const interviewing = Array.from({ length: INTERVIEWS_AT_ONCE }, async () => {
    while (!isOver) await wanted.interviews.hold({ sleepMs: INPUT.sleepMs });
  });
  let left = wanted.kills;
  const creating = (async () => {
    // While workers are killed there must be runs to lose.
    while (runs.length < wanted.runs || !isOver) {
      await createMore();
      await pause(100);
    }
  })();
  const isEnough = () => left <= 0 && wanted.interviews.cutRuns >= wanted.cutRuns;
  await Promise.all(
    deployment.workers.map(async (worker) => {
      while (!isEnough()) {
        // Those beyond what is wanted let runs get on, so that they end.
        const [livesAtLeastMs, livesAtMostMs] = bench.tier === 'fast' && left > 0 ? [300, 2_500] : [3_000, 9_000];
        left -= 1;
        await pause(bench.random.integer(livesAtLeastMs, livesAtMostMs));
        const { pid } = worker;
        kills.set(pid, Date.now());
        await worker.kill();
        await worker.start();
      }
    }),
  );
  isOver = true;
  await Promise.all([creating, ...interviewing]);
  bench.log(`${kills.size} kills, ${runs.length} runs`);
  return { kills, runs };
}

/** Measures that a step is executed again only when a kill cut the attempt that executed it. */
function measureExecutions(bench: Bench, byRun: Map<string, Attempt[]>, kills: Kills): void {
  const tooOften: string[] = [];
  let executed = 0;
  for (const [run, attempts] of byRun) {
    for (const [index, { attempt, steps, worker, lastAt }] of attempts.entries()) {
      executed += steps.length;
      if (new Set(steps).size !== steps.length) tooOften.push(`${run}, attempt ${attempt}: ${steps.join(', ')}`);
      const isLast = index === attempts.length - 1;
      const killedAt = kills.get(worker);
      if (!isLast && (killedAt === undefined || killedAt + HEARS_WITHIN_MS < lastAt)) {
        tooOften.push(`${run}: attempt ${attempt} was followed by another although its worker was not killed`);
      }
    }
  }
  bench.measureNone('steps executed oftener than kills allow', tooOften, executed);
}

/** Measures that a later attempt begins with the step after the last one that was recorded. */
async function measureStarts(bench: Bench, deployment: BenchDeployment, byRun: Map<string, Attempt[]>): Promise<void> {
  const { rows } = await deployment.pool.query<{ run_id: string; step: number; at: number }>(
    `SELECT run_id, (metadata->>'step')::int AS step, extract(epoch FROM created_at)::float8 * 1000 AS at
     FROM checkpoint WHERE checkpoint_ns = '' AND run_id IS NOT NULL`,
  );
  const wrong: string[] = [];
  let later = 0;
  for (const { run, attempt, steps, firstAt } of [...byRun.values()].flat()) {
    if (attempt === 1) continue;
    later += 1;
    const recorded = rows.filter((row) => row.run_id === run && row.at < firstAt).map(({ step }) => step);
    const next = Math.max(0, ...recorded);
    if (steps[0] !== next) wrong.push(`${run}: attempt ${attempt} began with step ${steps[0]}, ${next} were recorded`);
  }
  bench.measureNone('attempts that did not go on from the last checkpoint', wrong, later);
}

function measureResumptions(bench: Bench, byRun: Map<string, Attempt[]>, kills: Kills): void {
  const seconds: number[] = [];
  for (const attempts of byRun.values()) {
    for (const [index, { worker, attempt }] of attempts.entries()) {
      const next = attempts[index + 1];
      const killedAt = kills.get(worker);
      // An attempt between them that was killed before its first step has a time of its own.
      if (next && killedAt !== undefined && next.attempt === attempt + 1)
        seconds.push((next.firstAt - killedAt) / 1_000);
    }
  }
  const samples = seconds.length;
  const expected = Math.ceil(kills.size / 2);
  bench.measure({ what: 'runs that kills cut', measured: samples, limit: expected, unit: '', samples, atLeast: true });
  bench.measure({ what: 'kill → resumed, p95', measured: percentile(seconds, 0.95), limit: 15, unit: 's', samples });
  bench.measure({ what: 'kill → resumed, max', measured: Math.max(0, ...seconds), limit: 20, unit: 's', samples });
}
