import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from './bench.ts';

/** Kills Redis so often, and starts it empty each time. */
export async function killRedis({ servers: { redis }, random }: Bench, kills: number): Promise<void> {
  for (let kill = 0; kill < kills; kill += 1) {
    await pause(random.integer(500, 2_500));
    await redis.kill();
    await redis.wipe();
    await redis.start();
  }
}
