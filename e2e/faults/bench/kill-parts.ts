import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import type { Part } from './part.ts';

/** Kills each kind of process about as often as the others, one at a time. */
export async function killParts(bench: Bench, parts: readonly Part[], kills: number): Promise<void> {
  const kinds = [...new Set(parts.map(({ service }) => service))];
  let order: Part['service'][] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    if (order.length === 0) order = bench.random.shuffle(kinds);
    const service = order.pop();
    const part = bench.random.pick(parts.filter((each) => each.service === service));
    await pause(bench.random.integer(300, 1_500));
    await part.kill();
    await pause(bench.random.integer(0, 300));
    await part.start();
  }
}
