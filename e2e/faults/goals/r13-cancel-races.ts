import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import { RACE_KINDS, type Race, raceOf } from '../bench/cancel-races.ts';
import type { BenchDeployment } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import { Interviews } from '../bench/interviews.ts';
import type { Part } from '../bench/part.ts';

const LANES = 16;
/** Threads that are asked and answered beside the races, at a time: half of the answers are rolled back and given again. */
const INTERVIEWS = { atOnce: 3, sleepMs: 150, rollBacks: 0.5 };
const LEASE_MS = 2_000;
const VISIBLE_WITHIN_S = 5;
/** Of so many races one at least has its worker killed, or frozen past its lease. */
const RACES_PER_STRUCK = 10;
/** A worker that is lost has two or three races in hand that it decides. */
const RACES_PER_HIT = 16;

export const goal: Goal = {
  id: 'R13',
  title:
    'A run that is ordered to end while it ends, or while its worker dies, has one end, soon, and a rollback leaves nothing.',
  async run(bench) {
    const deployment = await bench.deployment({
      workers: 3,
      bus: 'redis',
      env: {
        WORKER_LEASE_SECONDS: String(LEASE_MS / 1000),
        N_JOBS_PER_WORKER: '10',
        // That a run is given up when it loses three workers without getting further is R16's matter.
        BG_JOB_MAX_RETRIES: '100',
      },
    });
    const wanted = bench.size({ fast: 60, full: 1_000 });
    const races: Race[] = [];
    const hits: Hit[] = [];
    const isEnough = () => races.length >= wanted && hits.length >= wanted / RACES_PER_HIT;
    let begun = 0;
    const lane = async (index: number) => {
      const random = bench.random.fork(`lane ${index}`);
      while (!isEnough()) {
        const kind = RACE_KINDS[begun++ % RACE_KINDS.length]!;
        const race = await raceOf(deployment, kind, random);
        if (race) races.push(race);
      }
    };
    const interviews = new Interviews(deployment, bench.random.fork('interviews'));
    const interviewing = Array.from({ length: INTERVIEWS.atOnce }, async () => {
      while (!isEnough()) await interviews.hold(INTERVIEWS);
    });
    const racing = Promise.all([...Array.from({ length: LANES }, (_, index) => lane(index)), ...interviewing]);
    await harmWorkersDuring(bench, deployment, { work: racing, hits });
    await deployment.truth.untilAllEnded(30_000);
    await judge(bench, deployment, races, { wanted, hits });
    const least = Math.floor(wanted / (4 * RACES_PER_HIT));
    interviews.measure(bench, least);
    bench.measureEnough('answers rolled back and given again', interviews.rolledBack, least);
  },
};

/** When a worker was lost, and its process. */
interface Hit {
  pid: number;
  at: number;
}

/** Kills and freezes workers one after the other, and leaves one that works at any time; each is noted as a hit. */
async function harmWorkersDuring(
  bench: Bench,
  deployment: BenchDeployment,
  { work, hits }: { work: Promise<unknown>; hits: Hit[] },
): Promise<void> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  const recovering = new Map<Part, Promise<unknown>>();
  while (!isOver) {
    await Promise.race([over, pause(bench.random.integer(300, 1_000))]);
    const working = deployment.workers.filter((worker) => !recovering.has(worker));
    if (isOver || working.length < 2) continue;
    const worker = bench.random.pick(working);
    hits.push({ pid: worker.pid, at: Date.now() });
    const recovery = bench.random.chance(0.25) ? freeze(worker) : worker.kill().then(() => worker.start());
    recovering.set(
      worker,
      recovery.finally(() => recovering.delete(worker)),
    );
  }
  await over;
  await Promise.all(recovering.values());
}

async function freeze(worker: Part): Promise<void> {
  worker.pause();
  await pause(LEASE_MS * 1.5);
  worker.resume();
}

async function judge(
  bench: Bench,
  deployment: BenchDeployment,
  races: Race[],
  { wanted, hits }: { wanted: number; hits: Hit[] },
): Promise<void> {
  const changes = await deployment.truth.statusChanges();
  const history = new Map<string, typeof changes>();
  for (const change of changes) history.set(change.runId, [...(history.get(change.runId) ?? []), change]);
  const isTerminal = (status: string | null) => status !== null && status !== 'pending' && status !== 'running';

  const endedOtherwise = [...history].flatMap(([runId, each]) => {
    const ends = each.filter(({ to }) => isTerminal(to)).map(({ to }) => to);
    return ends.length === 1 ? [] : [`${runId} ended ${ends.length} times: ${ends.join(', ')}`];
  });
  bench.measureNone('runs that did not end exactly once', endedOtherwise, history.size, wanted);

  const wrong = races.flatMap((race) => {
    const hasStarted = history.get(race.runId)?.some(({ to }) => to === 'running') ?? false;
    const said = `${race.runId} (${race.kind}, ${race.wasInTime ? 'in time' : 'too late'}) is ${race.end}`;
    return race.surprise ? [`${race.runId}: ${race.surprise}`] : isAsOrdered(race, hasStarted) ? [] : [said];
  });
  bench.measureNone('runs that are not as ordered', wrong, races.length, wanted);
  // Neither side may win them all: then nothing would have been raced for.
  const won = races.filter(({ end }) => end !== 'success').length;
  const least = Math.floor(wanted / 10);
  bench.measureEnough('races that the order won', won, least);
  bench.measureEnough('races that the run won', races.length - won, least);

  const visible = races.map(({ visibleMs }) => visibleMs / 1000);
  bench.log(`ends were visible after ${percentile(visible, 0.5)} s (median), ${percentile(visible, 0.99)} s (p99)`);
  bench.measure({
    what: 'order answered → end visible, longest',
    measured: Math.max(0, ...visible),
    limit: VISIBLE_WITHIN_S,
    unit: 's',
    samples: visible.length,
  });
  const early = races.filter(({ waits, wasInTime, orderedAt, runId }) => {
    const end = history.get(runId)?.find(({ to }) => isTerminal(to));
    return waits && wasInTime && !(end && end.at.getTime() <= orderedAt);
  });
  const waiting = races.filter(({ waits }) => waits).length;
  bench.measureNone(
    'waits that were answered before the end',
    early.map(({ runId }) => runId),
    waiting,
  );

  const changed = races.filter(({ before, after }) => before !== after).map(({ threadId }) => threadId);
  bench.measureNone(
    'threads that a rollback left changed',
    changed,
    races.filter(({ after }) => after !== undefined).length,
  );
  const gone = races.filter(({ end }) => end === 'gone').map(({ runId }) => runId);
  bench.measureNone('rows that a rollback left', await leftOf(deployment, gone), gone.length);

  const entries = await deployment.ledger.byRun();
  const wasHit = (runId: string) => {
    const executed = entries.get(runId) ?? [];
    const end =
      history
        .get(runId)
        ?.find(({ to }) => isTerminal(to))
        ?.at.getTime() ?? 0;
    return hits.some(({ pid, at }) => at < end && executed.some((entry) => entry.worker === pid && entry.at <= at));
  };
  const struck = races.filter(({ runId }) => wasHit(runId)).length;
  bench.log(`${hits.length} workers were killed or frozen`);
  bench.measureEnough('races whose worker was killed or frozen', struck, wanted / RACES_PER_STRUCK);
}

function isAsOrdered({ kind, wasInTime, end }: Race, hasStarted: boolean): boolean {
  const isCancel = kind.startsWith('cancel');
  // A new run may find the one before it over.
  if (!wasInTime || (!isCancel && end === 'success')) return end === 'success';
  return end === (kind.endsWith('rollback') && hasStarted ? 'gone' : 'interrupted');
}

async function leftOf({ pool }: BenchDeployment, runIds: string[]): Promise<string[]> {
  const { rows } = await pool.query<{ found: string }>(
    `SELECT 'checkpoint of ' || run_id AS found FROM checkpoint WHERE run_id = ANY($1::uuid[])
     UNION ALL SELECT 'write of ' || run_id FROM checkpoint_write WHERE run_id = ANY($1::uuid[])
     UNION ALL SELECT 'blob on ' || thread_id FROM checkpoint_blob b WHERE NOT EXISTS (
       SELECT 1 FROM checkpoint c WHERE c.thread_id = b.thread_id AND c.checkpoint_ns = b.checkpoint_ns
         AND c.checkpoint_id = b.checkpoint_id)
     UNION ALL SELECT 'busy thread ' || thread_id FROM thread WHERE status = 'busy'`,
    [runIds],
  );
  return rows.map(({ found }) => found);
}
