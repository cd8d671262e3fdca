import { setTimeout as pause } from 'node:timers/promises';
import type { Goal } from '../bench/goal.ts';
import { measureOutage, measureRecoverySeconds, measureRuns, watchProcesses } from '../bench/outage-checks.ts';
import { SteadyLoad } from '../bench/steady-load.ts';

/** The longest that a request waits for Redis, with an allowance for a busy machine. */
const BOUND_SECONDS = 10;

export const goal: Goal = {
  id: 'R4',
  title: 'Redis may be killed and come back empty: no accepted run is lost, and all is at work again within seconds.',
  async run(bench) {
    const { redis } = bench.servers;
    const deployment = await bench.deployment({ workers: 2 });
    const measureProcesses = watchProcesses(bench, deployment);
    const kills = bench.size({ fast: 2, full: 20 });
    const load = new SteadyLoad(deployment, { everyMs: 150, input: { steps: 3, sleepMs: 200, events: 2 } });
    const backAfter: number[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      await pause(bench.random.integer(200, 1_000));
      await redis.kill();
      await redis.wipe();
      await pause(bench.random.integer(0, 1_500));
      await redis.start();
      backAfter.push(await measureRecoverySeconds(deployment, performance.now()));
    }
    const runs = await load.stop();
    await deployment.audit.untilAllEnded(60_000);
    const measured = Math.max(...backAfter);
    const samples = backAfter.length;
    bench.measure({ what: 'Redis up → all at work, max', measured, limit: 10, unit: 's', samples, needed: kills });
    // Some of them were created, claimed or executed without Redis.
    await measureRuns(bench, deployment, runs, 5 * kills);
    measureOutage(bench, [deployment.history], { boundSeconds: BOUND_SECONDS });
    measureProcesses();
  },
};
