import { setTimeout as pause } from 'node:timers/promises';
import type { Goal } from '../bench/goal.ts';
import { percentile } from '../bench/measure.ts';

export const goal: Goal = {
  id: 'R1',
  title: 'A killed worker costs time, never a run, a checkpoint, or a step that was recorded twice.',
  isFast: true,
  async run(bench) {
    const deployment = await bench.deployment({ workers: 3 });
    const wanted = bench.size({ fast: 20, full: 300 });
    const kills = bench.size({ fast: 5, full: 100 });
    const input = { steps: 5, sleepMs: 300 };
    const runs = [];
    for (let index = 0; index < wanted; index += 1) {
      const run = await deployment.createRun(input);
      if (run) runs.push(run);
    }
    const killedAt: number[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      await pause(bench.random.integer(100, 900));
      const worker = bench.random.pick(deployment.workers);
      killedAt.push(Date.now());
      await worker.kill();
      void worker.start();
    }
    await deployment.truth.untilAllEnded(120_000);
    const violations = await deployment.truth.violations(runs);
    for (const [what, found] of Object.entries(violations)) bench.measureNone(what, found, runs.length);
    bench.measure({ what: 'kills', measured: percentile(killedAt, 0), limit: 0, unit: '', samples: 1, atLeast: true });
  },
};
