import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { AcknowledgedWrites } from '../bench/acknowledged-writes.ts';
import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import { measureOutage, measureRecoverySeconds, measureRuns, watchProcesses } from '../bench/outage-checks.ts';
import { PlatformWatch } from '../bench/platform-watch.ts';
import { SteadyLoad } from '../bench/steady-load.ts';

/** The services' limit for waiting for a connection. */
const POOL_TIMEOUT_SECONDS = 5;
/** A write waits for the one in flight before it is tried itself; the rest is for a busy machine. */
const BOUND_SECONDS = 2 * POOL_TIMEOUT_SECONDS + 5;
const REFUSAL_MS = 30_000;
const FULL_MS = 10_000;

export const goal: Goal = {
  id: 'R5',
  title:
    'Postgres may stop at once, refuse, or have no connection left: what was acknowledged stays, and all goes on when it is back.',
  async run(bench) {
    const platform = await bench.platform();
    const deployment = await bench.deployment({
      workers: 2,
      env: { DATABASE_POOL_TIMEOUT_SECONDS: String(POOL_TIMEOUT_SECONDS) },
    });
    const edge = new PlatformWatch(platform);
    const measureProcesses = watchProcesses(bench, deployment);
    const load = new SteadyLoad(deployment, { everyMs: 200, input: { steps: 4, sleepMs: 300 } });
    const writes = new AcknowledgedWrites(deployment);

    const stops = bench.size({ fast: 1, full: 6 });
    const afterStop: number[] = [];
    for (let stop = 0; stop < stops; stop += 1) afterStop.push(await stopAtOnce(bench, deployment, edge));
    const afterRefusal = await refuse(bench, deployment);
    const afterFull = await takeAllConnections(bench, deployment, edge);

    const runs = await load.stop();
    const lost = await writes.lost();
    await edge.stop();
    await deployment.audit.untilAllEnded(60_000);
    const measure = (what: string, seconds: number[]) =>
      bench.measure({ what, measured: Math.max(...seconds), limit: 10, unit: 's', samples: seconds.length });
    measure('immediate stop and restart: up → all at work, max', afterStop);
    measure('refused connections: allowed → all at work', [afterRefusal]);
    measure('no connection left: freed → all at work', [afterFull]);
    bench.measureNone('acknowledged writes lost', lost, writes.count, bench.size({ fast: 50, full: 300 }));
    const waited = deployment.history.calls.filter(({ outcome }) => outcome !== 'ok').length;
    bench.measureEnough('requests that met a Postgres that was not there', waited, stops);
    await measureRuns(bench, deployment, runs);
    measureOutage(bench, [deployment.history, edge.history], { boundSeconds: BOUND_SECONDS });
    measureProcesses();
  },
};

async function stopAtOnce(
  { servers, random }: Bench,
  deployment: BenchDeployment,
  edge: PlatformWatch,
): Promise<number> {
  await pause(random.integer(500, 1_500));
  await servers.postgres.kill();
  await pause(random.integer(0, 2_000));
  await servers.postgres.start();
  return secondsUntilBothAtWork(deployment, edge);
}

async function refuse(bench: Bench, deployment: BenchDeployment): Promise<number> {
  const lines = deployment.parts.map(({ lines: { postgres } }) => postgres);
  await Promise.all(lines.map((line) => line.refuse()));
  // The outage is longer than a lease: the workers have to drop their runs.
  await pause(Math.max(12_000, (REFUSAL_MS * bench.size({ fast: 40, full: 100 })) / 100));
  await Promise.all(lines.map((line) => line.heal()));
  return measureRecoverySeconds(deployment, performance.now());
}

/** Takes every connection that the server has, and the services lose theirs. */
async function takeAllConnections(
  { servers }: Bench,
  deployment: BenchDeployment,
  edge: PlatformWatch,
): Promise<number> {
  const { adminUrl } = servers.postgres.address;
  const taken: pg.Client[] = [];
  const take = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: adminUrl, application_name: 'taking-all' });
    client.on('error', () => undefined);
    try {
      await client.connect();
      taken.push(client);
      return true;
    } catch {
      return false;
    }
  };
  while (await take());
  if (taken.length === 0) throw new Error('no connection could be taken from the server');
  for (const part of deployment.parts) part.lines.postgres.reset();
  const until = performance.now() + FULL_MS;
  while (performance.now() < until) if (!(await take())) await pause(20);
  await Promise.all(taken.map((client) => client.end()));
  return secondsUntilBothAtWork(deployment, edge);
}

async function secondsUntilBothAtWork(deployment: BenchDeployment, edge: PlatformWatch): Promise<number> {
  const since = performance.now();
  const seconds = await Promise.all([measureRecoverySeconds(deployment, since), edge.measureRecoverySeconds(since)]);
  return Math.max(...seconds);
}
