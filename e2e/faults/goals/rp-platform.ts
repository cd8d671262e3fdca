import { setTimeout as pause } from 'node:timers/promises';
import { openPool } from '@runyard/database';
import type { Bench } from '../bench/bench.ts';
import { CutStreams } from '../bench/cut-streams.ts';
import type { Goal } from '../bench/goal.ts';
import type { Call } from '../bench/history.ts';
import type { BenchPlatform } from '../bench/platform.ts';
import { PlatformLoad } from '../bench/platform-load.ts';
import { PlatformWatch } from '../bench/platform-watch.ts';
import { RollOuts } from '../bench/roll-outs.ts';
import { Truth } from '../bench/truth.ts';

const INPUT = { steps: 4, sleepMs: 150, events: 5, bytes: 100 };
const SERVICES = ['gateway', 'control-plane', 'org-access'] as const;

export const goal: Goal = {
  id: 'RP',
  title: 'A platform whose gateway, control-plane or org-access is killed is back by itself and has forgotten nothing.',
  async run(bench) {
    const platform = await bench.platform();
    const truth = await truthOf(bench, platform);
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
    const rollOuts = new RollOuts(platform);
    const seconds = await killServices(bench, platform, watch, rollOuts);
    await Promise.all([load.stop(), streams.stop(), watch.stop()]);
    await truth.untilAllEnded(60_000);

    bench.measure({
      what: 'killed → all services at work, longest',
      measured: Math.max(...seconds),
      limit: 15,
      unit: 's',
      samples: seconds.length,
    });
    const runs = [...load.accepted, ...streams.accepted];
    for (const [what, found] of Object.entries(await truth.violations(runs)))
      bench.measureNone(what, found, runs.length);
    bench.measureNone('API keys lost', await load.lostKeys(), load.keys.length);
    bench.measureNone(
      'revisions lost, failed or not in their place',
      await rollOuts.faults(60_000),
      rollOuts.accepted.length,
    );
    bench.measureNone('streams with events missing, repeated or out of order', streams.faults, streams.accepted.length);
    const calls = [load, watch, rollOuts].flatMap(({ history }) => history.calls);
    bench.measureNone(
      'answers other than 2xx, 503 with Retry-After, or a cut connection',
      calls.filter(isWrong).map(told),
      calls.length,
    );
  },
};

/** Kills each service some times, in random order, every control-plane with a roll-out under way. Gives the seconds each took. */
async function killServices(
  bench: Bench,
  platform: BenchPlatform,
  watch: PlatformWatch,
  rollOuts: RollOuts,
): Promise<number[]> {
  // What starts them gives a service up that ends more often than this within a minute.
  const kills = bench.size({ fast: 1, full: 5 });
  const seconds: number[] = [];
  for (const service of bench.random.shuffle(Array.from({ length: kills }, () => SERVICES).flat())) {
    await pause(bench.random.integer(300, 1_500));
    if (service === 'control-plane') {
      await rollOuts.begin();
      await pause(bench.random.integer(0, 3_000));
    }
    const killedAt = performance.now();
    await platform.kill(service);
    const took = await watch.secondsUntilAtWork(killedAt);
    bench.log(`${service} killed, all at work after ${took.toFixed(1)} s`);
    seconds.push(took);
  }
  return seconds;
}

/** The database of the platform's one deployment, past all services. */
async function truthOf(bench: Bench, platform: BenchPlatform): Promise<Truth> {
  const url = new URL(bench.servers.postgres.address.adminUrl);
  url.pathname = `/runyard_${platform.deploymentUrl.split('/').at(-1)?.replaceAll('-', '')}`;
  const pool = openPool({ connectionString: url.href, max: 2, applicationName: 'fault-bench' });
  bench.onClose(() => pool.end());
  const truth = new Truth(pool, platform.ledger);
  await truth.watchStatuses();
  // The role of the deployment, which fires the triggers, is not the one that made them.
  await pool.query('GRANT ALL ON bench_status_change, bench_status_change_seq_seq TO PUBLIC');
  return truth;
}

/** Every request was one to be answered with 2xx. */
function isWrong({ outcome, status }: Call): boolean {
  return outcome === 'failed' || (outcome === 'refused' && status !== 503);
}

function told({ method, path, status, body }: Call): string {
  return `${method} ${path}: ${status} ${JSON.stringify(body)?.slice(0, 200)}`;
}
