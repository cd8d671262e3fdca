import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { CutStreams } from './cut-streams.ts';
import { measureAnswers } from './measure-answers.ts';
import { openDatabaseAudit } from './open-database-audit.ts';
import type { BenchPlatform, ProcessName } from './platform.ts';
import { PlatformLoad } from './platform-load.ts';
import { PlatformWatch } from './platform-watch.ts';
import { RevisionLoad } from './revision-load.ts';

const INPUT = { steps: 4, sleepMs: 150, events: 5, bytes: 100 };
const LIMIT_SECONDS = 15;

export interface KilledPlatformOptions {
  /** The processes that are killed. */
  processes: readonly ProcessName[];
  /** Variables of its launcher. */
  env?: Record<string, string>;
}

/**
 * Kills the processes of a platform, one after the other, while it is used: runs and streams, keys, roll-outs. Measures
 * when it is back, what it has forgotten and what it answered.
 */
export async function measureKilledPlatform(bench: Bench, { processes, env }: KilledPlatformOptions): Promise<void> {
  const platform = await bench.platform(env);
  const audit = await openDatabaseAudit(bench, platform);
  const load = new PlatformLoad(platform, { input: INPUT, everyMs: 250 });
  const watch = new PlatformWatch(platform);
  const { ledger, headers } = platform;
  const streams = new CutStreams({
    ledger,
    headers,
    random: bench.random.fork('streams'),
    input: INPUT,
    clients: 4,
    urls: () => [platform.deploymentUrl],
  });
  const rollOuts = new RevisionLoad(platform);
  const seconds = await killEach(bench, processes, { platform, watch, rollOuts });
  await Promise.all([load.stop(), streams.stop(), watch.stop()]);
  await audit.untilAllEnded(60_000);

  bench.measure({
    what: 'killed → all services at work, longest',
    measured: Math.max(...seconds),
    limit: LIMIT_SECONDS,
    unit: 's',
    samples: seconds.length,
  });
  const runs = [...load.accepted, ...streams.accepted];
  for (const [what, found] of Object.entries(await audit.violations(runs))) bench.measureNone(what, found, runs.length);
  bench.measureNone('API keys lost', await load.lostKeys(), load.keys.length);
  bench.measureNone(
    'revisions lost, failed or not in their place',
    await rollOuts.faults(60_000),
    rollOuts.accepted.length,
  );
  bench.measureNone('streams with events missing, repeated or out of order', streams.faults, streams.accepted.length);
  measureAnswers(bench, [load.history, watch.history, rollOuts.history]);
}

interface UsedPlatform {
  platform: BenchPlatform;
  watch: PlatformWatch;
  rollOuts: RevisionLoad;
}

/** Those that roll out: they are killed with a roll-out in flight. */
const ROLLING_OUT: readonly ProcessName[] = ['control-plane', 'data-plane', 'platform-services'];

/** Kills each process some times, in random order. Returns the seconds that each took to be back. */
async function killEach(
  bench: Bench,
  processes: readonly ProcessName[],
  { platform, watch, rollOuts }: UsedPlatform,
): Promise<number[]> {
  // The launcher gives up a process that ends more often than this within a minute.
  const kills = bench.size({ fast: 1, full: 5 });
  const seconds: number[] = [];
  for (const name of bench.random.shuffle(Array.from({ length: kills }, () => processes).flat())) {
    await pause(bench.random.integer(300, 1_500));
    if (ROLLING_OUT.includes(name)) {
      await rollOuts.begin();
      await pause(bench.random.integer(0, 3_000));
    }
    const killedAt = performance.now();
    const seen = watch.history.calls.length;
    await platform.kill(name);
    const took = await watch.measureRecoverySeconds(killedAt);
    bench.log(`${name} killed, all at work after ${took.toFixed(1)} s`);
    const last = watch.history.calls.slice(seen).findLast(({ outcome }) => outcome !== 'ok');
    if (last && took > LIMIT_SECONDS) bench.log(`the last to fail: ${JSON.stringify(last).slice(0, 500)}`);
    seconds.push(took);
  }
  return seconds;
}
