import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import { measureRuns } from '../bench/outage-checks.ts';
import type { Part } from '../bench/part.ts';
import { SteadyLoad } from '../bench/steady-load.ts';
import { faultsOf } from './random-faults.ts';
import { growth, type Holding, holdingOf } from './resources.ts';

export interface SoakOptions {
  minutes: number;
  /** Runs asked for in a second. */
  rps: number;
}

const ENV = { WORKER_LEASE_SECONDS: '5', BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '10' };
const INPUT = { steps: 2, sleepMs: 50, events: 2, bytes: 100 };
const FAULT_EVERY_MS = 60_000;
const SAMPLE_EVERY_MS = 5_000;
/** Of the whole time: memory may grow in it, as caches and heaps fill. At most ten minutes. */
const WARM_UP = 0.25;
/** Connections that are kept for a while after their last use are gone by then. */
const SETTLED_MS = 90_000;

/** Load for a long time with one thing going wrong every minute. */
export const soakGoal = ({ minutes, rps }: SoakOptions): Goal => ({
  id: 'R18',
  title: 'Hours of load with a fault every minute break no promise, and leave nothing behind in memory or open.',
  limitMinutes: minutes + 15,
  run: (bench) => soak(bench, { minutes, rps }),
});

async function soak(bench: Bench, { minutes, rps }: SoakOptions): Promise<void> {
  const deployment = await bench.deployment({ agentApis: 2, workers: 2, env: ENV });
  const [api, worker] = [deployment.agentApis[0] as Part, deployment.workers[0] as Part];
  const steady = new Map([
    ['agent-api', api],
    ['run-worker', worker],
  ]);
  // What is opened at the first use and kept is not left behind.
  await underLoad(deployment, rps, () => pause(10_000));
  await pause(SETTLED_MS / 3);
  const atStart = await descriptors(steady);

  const samples = new Map([...steady.keys()].map((name) => [name, [] as Holding[]]));
  const sampling = setInterval(async () => {
    for (const [name, part] of steady) samples.get(name)?.push(await holdingOf(part.pid));
  }, SAMPLE_EVERY_MS);
  const begun = performance.now();
  const faults = faultsOf(bench, deployment);
  const struck: string[] = [];
  const runs = await underLoad(deployment, rps, async () => {
    const end = begun + minutes * 60_000;
    for (let next = begun + FAULT_EVERY_MS / 2; next < end; next += FAULT_EVERY_MS) {
      await pause(Math.max(0, next - performance.now()));
      const fault = bench.random.pick(faults);
      bench.log(`minute ${Math.floor((performance.now() - begun) / 60_000)}: ${fault.name}`);
      await fault.strike();
      struck.push(fault.name);
    }
    await pause(Math.max(0, end - performance.now()));
  });
  clearInterval(sampling);
  await deployment.truth.untilAllEnded(120_000);

  bench.measureEnough('faults', struck.length, Math.floor(minutes * 0.8));
  await measureRuns(bench, deployment, runs);
  const failures = deployment.history.failures().map(({ method, path, status }) => `${method} ${path}: ${status}`);
  bench.measureNone('answers ≥ 500 other than 503 with Retry-After', failures, deployment.history.calls.length);
  const warm = begun + Math.min(600_000, minutes * 60_000 * WARM_UP);
  for (const [name, taken] of samples) {
    const later = taken.filter(({ at }) => at > warm);
    bench.measure({
      what: `growth of ${name} after warm-up`,
      measured: growth(later),
      limit: 1,
      unit: 'MB/10 min',
      samples: later.length,
    });
  }
  await measureLeftOpen(bench, steady, atStart);
}

/** All runs that were accepted while `work` went on. */
async function underLoad(deployment: BenchDeployment, rps: number, work: () => Promise<unknown>) {
  const { agentApis } = deployment;
  const everyMs = (1000 / rps) * agentApis.length;
  const loads = agentApis.map((_, at) => new SteadyLoad(deployment, { everyMs, input: INPUT, at }));
  await work();
  return (await Promise.all(loads.map((load) => load.stop()))).flat();
}

async function descriptors(parts: Map<string, Part>): Promise<Map<string, number>> {
  const counted = [...parts].map(async ([name, part]) => [name, (await holdingOf(part.pid)).descriptors] as const);
  return new Map(await Promise.all(counted));
}

/** Files and connections once all is quiet, against those at the start. */
async function measureLeftOpen(bench: Bench, parts: Map<string, Part>, atStart: Map<string, number>): Promise<void> {
  let atEnd = await descriptors(parts);
  const more = (name: string) => (atEnd.get(name) ?? 0) - (atStart.get(name) ?? 0);
  await waitFor(
    async () => {
      atEnd = await descriptors(parts);
      return [...parts.keys()].every((name) => more(name) <= 0);
    },
    { timeoutMs: SETTLED_MS, intervalMs: 1_000, what: 'connections to be closed' },
  ).catch(() => undefined); // Told by the numbers.
  for (const name of parts.keys()) {
    bench.measure({
      what: `descriptors of ${name} left open`,
      measured: Math.max(0, more(name)),
      limit: 0,
      unit: '',
      samples: atEnd.get(name) ?? 0,
    });
  }
}
