import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from '../bench/bench.ts';
import { CutStreams } from '../bench/cut-streams.ts';
import type { Goal } from '../bench/goal.ts';
import { measureAnswers } from '../bench/measure-answers.ts';
import { openDatabaseAudit } from '../bench/open-database-audit.ts';
import type { BenchPlatform } from '../bench/platform.ts';
import { PlatformLoad } from '../bench/platform-load.ts';
import { PlatformWatch } from '../bench/platform-watch.ts';
import { RevisionLoad } from '../bench/revision-load.ts';

const INPUT = { steps: 4, sleepMs: 150, events: 5, bytes: 100 };
const LIMIT_SECONDS = 15;
const SERVICES = ['gateway', 'control-plane', 'data-plane', 'org-access', 'oauth-broker'] as const;

export const goal: Goal = {
  id: 'RP',
  title:
    'A platform whose gateway, control-plane, data-plane, org-access or oauth-broker is killed is back by itself and has forgotten nothing.',
  async run(bench) {
    const platform = await bench.platform();
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
    const seconds = await killServices(bench, platform, watch, rollOuts);
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
    for (const [what, found] of Object.entries(await audit.violations(runs)))
      bench.measureNone(what, found, runs.length);
    bench.measureNone('API keys lost', await load.lostKeys(), load.keys.length);
    bench.measureNone(
      'revisions lost, failed or not in their place',
      await rollOuts.faults(60_000),
      rollOuts.accepted.length,
    );
    bench.measureNone('streams with events missing, repeated or out of order', streams.faults, streams.accepted.length);
    measureAnswers(bench, [load.history, watch.history, rollOuts.history]);
  },
};

/**
 * Kills each service some times, in random order, every control-plane and data plane with a roll-out in flight. Returns the seconds
 * each took.
 */
async function killServices(
  bench: Bench,
  platform: BenchPlatform,
  watch: PlatformWatch,
  rollOuts: RevisionLoad,
): Promise<number[]> {
  // The launcher gives up a service that ends more often than this within a minute.
  const kills = bench.size({ fast: 1, full: 5 });
  const seconds: number[] = [];
  for (const service of bench.random.shuffle(Array.from({ length: kills }, () => SERVICES).flat())) {
    await pause(bench.random.integer(300, 1_500));
    if (service === 'control-plane' || service === 'data-plane') {
      await rollOuts.begin();
      await pause(bench.random.integer(0, 3_000));
    }
    const killedAt = performance.now();
    const seen = watch.history.calls.length;
    await platform.kill(service);
    const took = await watch.measureRecoverySeconds(killedAt);
    bench.log(`${service} killed, all at work after ${took.toFixed(1)} s`);
    const last = watch.history.calls.slice(seen).findLast(({ outcome }) => outcome !== 'ok');
    if (last && took > LIMIT_SECONDS) bench.log(`the last to fail: ${JSON.stringify(last).slice(0, 500)}`);
    seconds.push(took);
  }
  return seconds;
}
