import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from '../bench/bench.ts';
import { CutStreams } from '../bench/cut-streams.ts';
import type { BenchDeployment, BenchRun } from '../bench/deployment.ts';
import { BenchGateway } from '../bench/gateway.ts';
import { GatewayClients } from '../bench/gateway-clients.ts';
import type { Goal } from '../bench/goal.ts';
import type { LedgerEntry } from '../bench/ledger.ts';
import { measureRuns } from '../bench/outage-checks.ts';
import type { Part } from '../bench/part.ts';

const GRACE_SECONDS = 5;
/** Seconds that a stopping agent-api still takes requests; the default. */
const WINDOW_SECONDS = 5;
/** Runs longer than the grace, so that most are handed back. */
const LONG = { steps: 25, sleepMs: 400 };
/** Long runs in flight while a worker is asked to stop. */
const LONG_AT_ONCE = 6;
const STREAMED = { steps: 12, sleepMs: 500, events: 3 };

/** A worker that was asked to stop. */
interface Stop {
  worker: number;
  /** Milliseconds since 1970. */
  at: number;
  seconds: number;
  code: number | null;
  /** The lines of the log at level error. */
  errors: string[];
}

export const goal: Goal = {
  id: 'R3',
  title:
    'Workers and agent servers that are asked to stop hand on what they have, and nobody behind the gateway notices.',
  async run(bench) {
    const deployment = await bench.deployment({
      agentApis: 2,
      workers: 3,
      env: {
        BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: String(GRACE_SECONDS),
        DRAIN_WINDOW_SECONDS: String(WINDOW_SECONDS),
        RESUMABLE_STREAM_TTL_SECONDS: '600',
      },
    });
    // A machine that others keep busy would make it refuse requests that came late, and break off those at a server
    // that gets no processor for ten seconds, which no stop is to blame for.
    const patient = { HTTP_MAX_ARRIVAL_DELAY_SECONDS: '0', UPSTREAM_SILENCE_SECONDS: '60' };
    const gateway = await BenchGateway.start(deployment, bench.servers, patient, { isDirect: true });
    bench.onClose(() => gateway.close());
    const clients = new GatewayClients(gateway, deployment.ledger, {
      requests: bench.size({ fast: 150, full: 2_000 }),
      streams: 3,
      waits: 3,
      input: STREAMED,
    });
    // These clients use no gateway, and rejoin by themselves.
    const direct = new CutStreams({
      ledger: deployment.ledger,
      random: bench.random.fork('direct'),
      input: STREAMED,
      clients: 2,
      urls: () => deployment.agentApis.filter(({ isUp }) => isUp).map(({ url }) => url),
    });
    const rounds = bench.size({ fast: 1, full: 5 });
    const [workers, agentApis] = await Promise.all([
      stopWorkers(bench, deployment, rounds),
      restartAgentApis(bench, deployment, rounds),
    ]);
    await Promise.all([clients.stop(), direct.stop()]);
    await deployment.audit.untilAllEnded(120_000);

    measureWorkers(bench, workers.stops, await deployment.ledger.byRun());
    const slowest = Math.max(0, ...agentApis.map(({ seconds }) => seconds));
    const limit = WINDOW_SECONDS + GRACE_SECONDS + 2;
    bench.measure({
      what: 'agent server: stop → gone, max',
      measured: slowest,
      limit,
      unit: 's',
      samples: agentApis.length,
    });
    const stops = workers.stops.length + agentApis.length;
    const unclean = [...workers.stops, ...agentApis]
      .filter(({ code }) => code !== 0)
      .map(({ code, errors }) => [`exit ${code}`, ...errors].join('\n'));
    bench.measureNone('stops that did not end with exit code 0', unclean, stops, 4 * rounds);
    clients.measure(bench);
    bench.measureNone(
      'streams cut by a stop and not gone on with whole',
      direct.faults,
      direct.accepted.length,
      rounds,
    );
    await measureRuns(bench, deployment, [...workers.runs, ...direct.accepted, ...clients.accepted]);
  },
};

/** Stops one worker after the other while it has runs that outlast its grace, and starts it again. */
async function stopWorkers(
  bench: Bench,
  deployment: BenchDeployment,
  rounds: number,
): Promise<{ stops: Stop[]; runs: BenchRun[] }> {
  const runs: BenchRun[] = [];
  const stops: Stop[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const worker of bench.random.shuffle(deployment.workers).slice(0, 2)) {
      // The other workers may take all of them.
      do {
        for (let asked = 0; asked < LONG_AT_ONCE; asked += 1) {
          const at = deployment.agentApis.findIndex(({ isUp }) => isUp);
          const run = await deployment.createRun(LONG, { at: Math.max(0, at) });
          if (run) runs.push(run);
        }
        await pause(bench.random.integer(200, 1_500));
      } while (!(await executesOneOf(deployment, worker, runs)));
      stops.push(await stopped(worker));
      await worker.start();
    }
  }
  return { stops, runs };
}

/** Returns whether a worker executes one of the runs and that outlasts its grace. */
async function executesOneOf({ ledger }: BenchDeployment, { pid }: Part, runs: BenchRun[]): Promise<boolean> {
  const byRun = await ledger.byRun();
  return runs.some(({ runId, steps }) => {
    const last = byRun.get(runId)?.at(-1);
    return last?.worker === pid && (steps - last.step) * LONG.sleepMs > GRACE_SECONDS * 1000 + LONG.sleepMs;
  });
}

/** Restarts one agent-api after the other, each when the one before is ready again. */
async function restartAgentApis(bench: Bench, deployment: BenchDeployment, rounds: number): Promise<Stop[]> {
  const stops: Stop[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const agentApi of deployment.agentApis) {
      await pause(bench.random.integer(1_000, 2_500));
      stops.push(await stopped(agentApi));
      await agentApi.start();
    }
  }
  return stops;
}

async function stopped(part: Part): Promise<Stop> {
  const { pid: worker } = part;
  const at = Date.now();
  const { code } = await part.stop();
  const errors = part
    .output()
    .split('\n')
    .filter((line) => line.includes('"level":"error"'));
  return { worker, at, seconds: (Date.now() - at) / 1000, code, errors };
}

/** A stretch of one run that one worker executed without another in between. */
interface Stretch {
  worker: number;
  firstAt: number;
  lastAt: number;
}

function stretchesOf(entries: readonly LedgerEntry[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (const { worker, at } of entries) {
    const last = stretches.at(-1);
    if (last?.worker === worker) last.lastAt = at;
    else stretches.push({ worker, firstAt: at, lastAt: at });
  }
  return stretches;
}

function measureWorkers(bench: Bench, stops: readonly Stop[], byRun: ReadonlyMap<string, LedgerEntry[]>): void {
  const begunAfter: number[] = [];
  const resumedAfter: number[] = [];
  for (const entries of byRun.values()) {
    const stretches = stretchesOf(entries);
    for (const [index, { worker, firstAt, lastAt }] of stretches.entries()) {
      const stop = stops.find((each) => each.worker === worker);
      if (!stop) continue;
      begunAfter.push((firstAt - stop.at) / 1000);
      const next = stretches[index + 1];
      if (next) resumedAfter.push((next.firstAt - lastAt) / 1000);
    }
  }
  const samples = begunAfter.length;
  bench.measure({
    what: 'worker: stop → last run begun',
    measured: Math.max(0, ...begunAfter),
    limit: 1,
    unit: 's',
    samples,
  });
  const slowest = Math.max(0, ...stops.map(({ seconds }) => seconds));
  bench.measure({
    what: 'worker: stop → gone, max',
    measured: slowest,
    limit: GRACE_SECONDS + 2,
    unit: 's',
    samples: stops.length,
  });
  const handed = resumedAfter.length;
  bench.measure({ what: 'runs handed back', measured: handed, limit: stops.length, unit: '', samples, atLeast: true });
  const slowestResumption = Math.max(0, ...resumedAfter);
  bench.measure({
    what: 'handed back → resumed elsewhere, max',
    measured: slowestResumption,
    limit: 5,
    unit: 's',
    samples: handed,
  });
}
