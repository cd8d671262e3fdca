import { groupAttempts } from '../bench/attempts.ts';
import type { BenchDeployment } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import { measureRuns } from '../bench/outage-checks.ts';

/** Runs that are accepted while all workers are frozen, so that all of them find them in the same moment. */
const ROUND = 250;
const CREATED_AT_ONCE = 25;

export const goal: Goal = {
  id: 'R9',
  title: 'Whatever many workers are woken for at once, each attempt of a run has exactly one claim.',
  isFast: true,
  async run(bench) {
    // There are two revisions of a deployment that has none active, so that both claim.
    const deployment = await bench.deployment({ workers: 2, env: { WORKER_LEASE_SECONDS: '60' } });
    const other = await Promise.all(
      [1, 2].map(() => deployment.addPart('run-worker', undefined, { REVISION_ID: 'other' })),
    );
    await Promise.all(other.map((worker) => worker.start()));
    const wanted = bench.size({ fast: 250, full: 2_000 });
    const runs = [];
    while (runs.length < wanted) {
      for (const worker of deployment.workers) worker.pause();
      runs.push(...(await createMany(deployment, Math.min(ROUND, wanted - runs.length))));
      for (const worker of bench.random.shuffle(deployment.workers)) worker.resume();
      await deployment.audit.untilAllEnded(60_000);
    }
    await measureRuns(bench, deployment, runs, wanted);

    const changes = await deployment.audit.statusChanges();
    const claims = changes.filter(({ to }) => to === 'running');
    const names = claims.map(({ runId, attempt }) => `${runId}, attempt ${attempt}`);
    const doubled = names.filter((name, index) => names.indexOf(name) !== index);
    bench.measureNone('attempts claimed more than once', doubled, claims.length, wanted);
    const again = claims.filter(({ attempt }) => attempt > 1).map(({ runId }) => runId);
    bench.measureNone('runs claimed again', again, runs.length);

    const attempts = groupAttempts(await deployment.ledger.byRun());
    const started = [...attempts].filter(([, { length }]) => length > 1).map(([run]) => run);
    const twice = [...attempts].filter(([, [first]]) => first && first.steps.length > 1).map(([run]) => run);
    bench.measureNone('double starts', [...started, ...twice], attempts.size, wanted);
    const workers = new Set([...attempts.values()].flat().map(({ worker }) => worker));
    bench.measureEnough('workers that had runs', workers.size, deployment.workers.length);
  },
};

async function createMany(deployment: BenchDeployment, count: number) {
  const runs = [];
  while (runs.length < count) {
    const next = Math.min(CREATED_AT_ONCE, count - runs.length);
    const created = await Promise.all(Array.from({ length: next }, () => deployment.createRun({ steps: 1 })));
    runs.push(...created.filter((run) => run !== undefined));
  }
  return runs;
}
