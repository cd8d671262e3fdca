import path from 'node:path';
import { openPool } from '@runyard/database';
import { createTestDatabase, startStopStorm } from '@runyard/test-kit';
import { backgroundParts } from '../bench/background-parts.ts';
import type { Goal } from '../bench/goal.ts';

const MIGRATIONS = path.resolve(import.meta.dirname, '../../../packages/run-engine/prisma/migrations');
const ROUNDS = 10;

export const goal: Goal = {
  id: 'R22',
  title: 'What works in the background can be started and stopped at any moment, and leaves nothing behind.',
  async run(bench) {
    const database = await createTestDatabase(MIGRATIONS);
    bench.onClose(() => database.close());
    const pool = openPool({ connectionString: database.url, max: 5, applicationName: 'start-stop-storm' });
    bench.onClose(() => pool.end());
    const times = bench.size({ fast: 5, full: 50 });
    const redis = bench.servers.redis.address.url;
    let [stops, seconds] = [0, 0];
    const faults: string[] = [];
    const parts = backgroundParts({ pool, database: database.url, redis, keyPrefix: `storm-${bench.seed}` });
    for (const part of parts) {
      const begun = performance.now();
      const result = await startStopStorm(part, { rounds: ROUNDS, times, random: bench.random.fork(part.name) });
      bench.log(`${part.name}: ${result.stops} in ${Math.round(performance.now() - begun)} ms`);
      stops += result.stops;
      seconds = Math.max(seconds, result.seconds);
      faults.push(...result.faults);
    }
    const needed = parts.length * ROUNDS * times;
    bench.measureNone('hangs, unheard rejections, and what was left behind', faults, stops, needed);
    bench.measure({ what: 'longest stop', measured: seconds, limit: 5, unit: 's', samples: stops });
  },
};
