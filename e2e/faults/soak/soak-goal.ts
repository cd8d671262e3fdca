import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '@runyard/test-kit';
import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment, BenchRun } from '../bench/deployment.ts';
import type { Goal } from '../bench/goal.ts';
import { measureRuns } from '../bench/outage-checks.ts';
import { SteadyLoad } from '../bench/steady-load.ts';
import { INSPECTABLE } from './inspected-process.ts';
import { createFaults } from './random-faults.ts';
import { growthPerTenMinutes, type ResourceSample, ResourceSampler } from './resources.ts';
import { StreamedLoad } from './streamed-load.ts';

export interface SoakOptions {
  minutes: number;
  /** Runs created per second. */
  rps: number;
}

/** The size that the goal promises. */
export const PROMISED: SoakOptions = { minutes: 60, rps: 20 };
const ENV = {
  WORKER_LEASE_SECONDS: '5',
  BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '10',
  NODE_OPTIONS: INSPECTABLE,
  // The processes with the project's code get it too.
  PROJECT_ENV: JSON.stringify({ NODE_OPTIONS: INSPECTABLE }),
};
const INPUT = { steps: 2, sleepMs: 50, events: 2, bytes: 100 };
const STREAM_EVERY_MS = 1_000;
const MINUTE_MS = 60_000;
/**
 * The share of the whole time in which memory may grow, as caches fill and hot code is compiled. At most ten minutes.
 */
const WARM_UP = 0.25;
/** Connections that are kept for a while after their last use are closed by then. */
const SETTLED_MS = 90_000;
/** An idle process has timers that come and go, so several samples are taken. */
const LOOKS_AT_START = 5;

/** Runs load for a long time with one fault every minute. */
export const createSoakGoal = ({ minutes, rps }: SoakOptions): Goal => ({
  id: 'R18',
  title: 'Hours of load with a fault every minute break no promise, and leave nothing behind in memory or open.',
  limitMinutes: minutes + 15,
  run: (bench) => soak(bench, { minutes, rps }),
});

async function soak(bench: Bench, { minutes, rps }: SoakOptions): Promise<void> {
  const deployment = await bench.deployment({ agentApis: 2, workers: 2, env: ENV });
  // No fault replaces these processes.
  const steady = { 'agent-api': deployment.agentApis[0]!, 'run-worker': deployment.workers[0]! };
  const watched = Object.entries(steady).map(([name, { pid }]) => {
    const watch = new ResourceSampler(pid);
    bench.onClose(async () => watch.close());
    return { name, watch, looks: [] as ResourceSample[] };
  });
  // Resources that are opened at the first use and kept are no leak.
  await underLoad(bench, deployment, rps, () => pause(10_000));
  await pause(SETTLED_MS / 3);
  const atStart = new Map<string, ResourceSample[]>();
  for (const { name, watch } of watched) atStart.set(name, await looksAtRest(watch));

  const begun = performance.now();
  const {
    runs,
    streams,
    result: struck,
  } = await underLoad(bench, deployment, rps, () =>
    strikeAndLook(bench, deployment, watched, begun + minutes * MINUTE_MS),
  );
  await deployment.audit.untilAllEnded(120_000);

  // A shorter run is reported as such.
  bench.measureEnough('minutes', minutes, PROMISED.minutes);
  const asked = deployment.history.calls.length / (minutes * 60);
  bench.measureEnough('runs asked for in a second', asked, 0.9 * PROMISED.rps);
  bench.measureEnough('faults', struck, Math.floor(minutes * 0.8));
  bench.measureEnough('streams read to their end', streams, Math.floor(minutes * 10));
  await measureRuns(bench, deployment, runs, Math.floor(minutes * 60 * rps * 0.5));
  const failures = deployment.history.failures().map(({ method, path, status }) => `${method} ${path}: ${status}`);
  bench.measureNone('answers ≥ 500 other than 503 with Retry-After', failures, deployment.history.calls.length);
  const warm = begun + Math.min(10, minutes * WARM_UP) * MINUTE_MS;
  for (const { name, looks } of watched) {
    measureGrowth(
      bench,
      name,
      looks.filter(({ at }) => at > warm),
      Math.floor(minutes / 2),
    );
  }
  for (const { name, watch } of watched) await measureLeft(bench, name, watch, atStart.get(name) ?? []);
}

/**
 * Injects a fault half a minute after each sample, so that samples are taken after recovery. Returns the number of
 * faults.
 */
async function strikeAndLook(
  bench: Bench,
  deployment: BenchDeployment,
  watched: readonly { name: string; watch: ResourceSampler; looks: ResourceSample[] }[],
  end: number,
): Promise<number> {
  const faults = createFaults(bench, deployment);
  let struck = 0;
  const until = (at: number) => pause(Math.max(0, at - performance.now()));
  for (let minute = performance.now(); minute < end; minute += MINUTE_MS) {
    await until(minute);
    for (const { name, watch, looks } of watched) {
      // A sample that fails is one less.
      const holding = await watch.look().catch((error: Error) => bench.log(`${name}: ${error.message}`));
      if (!holding) continue;
      looks.push(holding);
      bench.log(`${name}: ${told(holding)}`);
    }
    await until(minute + MINUTE_MS / 2);
    const fault = bench.random.pick(faults);
    bench.log(fault.name);
    await fault.inject();
    struck += 1;
  }
  await until(end);
  return struck;
}

/** Returns the outcome of the load while `work` ran. */
async function underLoad<T>(bench: Bench, deployment: BenchDeployment, rps: number, work: () => Promise<T>) {
  const { agentApis } = deployment;
  const everyMs = (1000 / rps) * agentApis.length;
  const loads = agentApis.map((_, at) => new SteadyLoad(deployment, { everyMs, input: INPUT, at }));
  const streamed = new StreamedLoad(deployment, {
    everyMs: STREAM_EVERY_MS,
    input: INPUT,
    random: bench.random.fork('streams'),
    at: 0,
  });
  const result = await work();
  const runs: BenchRun[] = (await Promise.all(loads.map((load) => load.stop()))).flat();
  await streamed.stop();
  return { runs, streams: streamed.whole, result };
}

function measureGrowth(bench: Bench, name: string, looks: readonly ResourceSample[], needed: number): void {
  const kinds = { 'what lives in': 'liveBytes', 'memory of': 'residentBytes' } as const;
  for (const [what, kind] of Object.entries(kinds)) {
    bench.measure({
      what: `growth of ${what} ${name} after warm-up`,
      measured: growthPerTenMinutes(looks.map((look) => ({ at: look.at, bytes: look[kind] }))),
      limit: 1,
      unit: 'MB/10 min',
      samples: looks.length,
      needed,
    });
  }
}

async function looksAtRest(watch: ResourceSampler): Promise<ResourceSample[]> {
  const looks: ResourceSample[] = [];
  while (looks.length < LOOKS_AT_START) looks.push(await watch.look());
  return looks;
}

/** Measures files, connections and timers once all is quiet, against those at the start. */
async function measureLeft(
  bench: Bench,
  name: string,
  watch: ResourceSampler,
  atStart: readonly ResourceSample[],
): Promise<void> {
  for (const kind of ['descriptors', 'timers'] as const) {
    const before = Math.max(...atStart.map((look) => look[kind]));
    let now = Number.POSITIVE_INFINITY;
    await waitFor(
      async () => {
        now = (await watch.look())[kind];
        return now <= before;
      },
      { timeoutMs: SETTLED_MS, intervalMs: 1_000, what: `the ${kind} of ${name} to be as at the start` },
    ).catch(() => undefined); // The number shows it.
    bench.log(`${kind} of ${name}: ${now}, ${before} at the start`);
    bench.measure({
      what: `${kind} of ${name} left`,
      measured: Math.max(0, now - before),
      limit: 0,
      unit: '',
      samples: before,
    });
  }
}

function told({ liveBytes, residentBytes, descriptors, timers }: ResourceSample): string {
  const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
  return `${megabytes(liveBytes)} MB live of ${megabytes(residentBytes)}, ${descriptors} descriptors, ${timers} timers`;
}
