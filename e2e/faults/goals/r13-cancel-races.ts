import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import { RACE_KINDS, type Race, runRace } from '../bench/cancel-races.ts';
import type { StatusChange } from '../bench/database-audit.ts';
import type { BenchDeployment } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import { Interviews } from '../bench/interviews.ts';
import type { Part } from '../bench/part.ts';
import { formatTimeline, type WorkerFault } from '../bench/race-timeline.ts';

const LANES = 16;
/**
 * Concurrent threads with questions and answers beside the races: half of the answers are rolled back and given again.
 */
const INTERVIEWS = { atOnce: 3, sleepMs: 150, rollBacks: 0.5 };
/** The default lease in milliseconds. */
const LEASE_MS = 10_000;
/** Races per interview: each outcome of an interview occurs at least once for so many races. */
const INTERVIEWS_SHARE = 64;
const VISIBLE_WITHIN_S = 5;
/** At least one of so many races has its worker killed, or frozen past its lease. */
const RACES_PER_STRUCK = 10;
/** The number of the slowest races that are printed with all that is known of them. */
const SHOWN_RACES = 3;

export const goal: Goal = {
  id: 'R13',
  title:
    'A run that is ordered to end while it ends, or while its worker dies, has one end, soon, and a rollback leaves nothing.',
  canHaveUsers: true,
  pythonTier: 'full',
  async run(bench) {
    const deployment = await bench.deployment({
      workers: 3,
      bus: 'redis',
      env: {
        // R16 covers runs that are given up when they lose three workers without progress.
        BG_JOB_MAX_RETRIES: '100',
      },
    });
    const wanted = bench.size({ fast: 60, full: 1_000 });
    const races: Race[] = [];
    const faults: WorkerFault[] = [];
    let isOver = false;
    let begun = 0;
    const lane = async (index: number) => {
      const random = bench.random.fork(`lane ${index}`);
      while (!isOver) {
        const kind = RACE_KINDS[begun++ % RACE_KINDS.length]!;
        const race = await runRace(deployment, kind, random);
        if (race) races.push(race);
      }
    };
    const interviews = new Interviews(deployment, bench.random.fork('interviews'));
    const interviewing = Array.from({ length: INTERVIEWS.atOnce }, async () => {
      while (!isOver) await interviews.hold(INTERVIEWS);
    });
    const racing = Promise.all([...Array.from({ length: LANES }, (_, index) => lane(index)), ...interviewing]);
    const least = Math.floor(wanted / INTERVIEWS_SHARE);
    const isEnough = async () =>
      races.length >= wanted &&
      Math.min(interviews.cutRuns, interviews.rolledBack) >= least &&
      (await struckRaces(deployment, races, faults)) >= wanted / RACES_PER_STRUCK;
    const recovered = await harmWorkers(bench, deployment, { racing, faults, isEnough });
    isOver = true;
    await Promise.all([racing, ...recovered]);
    await deployment.audit.untilAllEnded(30_000);
    await judge(bench, deployment, races, { wanted, faults });
    interviews.measure(bench, least);
    bench.measureEnough('answers rolled back and given again', interviews.rolledBack, least);
  },
};

/**
 * Kills and freezes workers one after the other until it is enough, and leaves one that works at any time. Returns
 * promises that resolve when all are back.
 */
async function harmWorkers(
  bench: Bench,
  deployment: BenchDeployment,
  { racing, faults, isEnough }: { racing: Promise<unknown>; faults: WorkerFault[]; isEnough: () => Promise<boolean> },
): Promise<Promise<unknown>[]> {
  const recovering = new Map<Part, Promise<unknown>>();
  while (!(await isEnough())) {
    await Promise.race([racing, pause(bench.random.integer(300, 1_000))]);
    const working = deployment.workers.filter((worker) => !recovering.has(worker));
    if (working.length < 2) continue;
    const worker = bench.random.pick(working);
    const isFrozen = bench.random.chance(0.25);
    faults.push({ pid: worker.pid, at: Date.now(), what: isFrozen ? 'frozen' : 'killed' });
    const recovery = isFrozen ? freeze(worker) : worker.kill().then(() => worker.start());
    recovering.set(
      worker,
      recovery.finally(() => recovering.delete(worker)),
    );
  }
  return [...recovering.values()];
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
  { wanted, faults }: { wanted: number; faults: WorkerFault[] },
): Promise<void> {
  const history = await statusHistory(deployment);
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
  // Neither side may win all of them: then there would have been no race.
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
  const entries = await deployment.ledger.byRun();
  for (const race of races.toSorted((a, b) => b.visibleMs - a.visibleMs).slice(0, SHOWN_RACES)) {
    const timeline = formatTimeline(race, history.get(race.runId) ?? [], entries.get(race.runId) ?? [], faults);
    bench.log(`among the longest: ${timeline}`);
  }
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

  const struck = await struckRaces(deployment, races, faults);
  bench.log(`${faults.length} workers were killed or frozen`);
  bench.measureEnough('races whose worker was killed or frozen', struck, wanted / RACES_PER_STRUCK);
}

const isTerminal = (status: string | null) => status !== null && status !== 'pending' && status !== 'running';

/** Returns the changes by run, in their order. */
async function statusHistory({ audit }: BenchDeployment): Promise<Map<string, StatusChange[]>> {
  const history = new Map<string, StatusChange[]>();
  for (const change of await audit.statusChanges()) {
    const changes = history.get(change.runId);
    if (changes) changes.push(change);
    else history.set(change.runId, [change]);
  }
  return history;
}

/** Returns how many races lost, before their end, a worker that had executed steps of theirs. */
async function struckRaces(deployment: BenchDeployment, races: Race[], faults: WorkerFault[]): Promise<number> {
  const [history, entries] = await Promise.all([statusHistory(deployment), deployment.ledger.byRun()]);
  const wasStruck = ({ runId }: Race) => {
    const executed = entries.get(runId) ?? [];
    const end = history.get(runId)?.find(({ to }) => isTerminal(to));
    const endedAt = end?.at.getTime() ?? 0;
    return faults.some(
      ({ pid, at }) => at < endedAt && executed.some((entry) => entry.worker === pid && entry.at <= at),
    );
  };
  return races.filter(wasStruck).length;
}

function isAsOrdered({ kind, wasInTime, end }: Race, hasStarted: boolean): boolean {
  const isCancel = kind.startsWith('cancel');
  // A new run may find that the one before has ended.
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
