import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { type CpuTimes, readCpuTimes } from '../observe/cpu-by-process.ts';

export interface IdleCost {
  seconds: number;
  /** Processor time of each part, in percent of one core. */
  percentOfCore: Map<string, number>;
  /** Transactions per second in the database of the deployment; a statement alone is one. */
  transactionsPerSecond: number;
  /** Commands per second that Redis executed, each counted, also those inside scripts. */
  redisPerSecond: Map<string, number>;
}

interface Counts {
  cpu: CpuTimes;
  transactions: number;
  redis: Map<string, number>;
}

/** Measures what the processes below one do in that time, with their database and their Redis. */
export async function measureIdleCost(
  target: { rootPid: number; databaseUrl: string; redisUrl: string },
  seconds: number,
): Promise<IdleCost> {
  const database = new pg.Client({ connectionString: target.databaseUrl, application_name: 'runyard-bench' });
  await database.connect();
  const redis = new Redis(target.redisUrl);
  const count = async (): Promise<Counts> => ({
    cpu: await readCpuTimes(target.rootPid, []),
    transactions: await countTransactions(database),
    redis: await countCommands(redis),
  });
  try {
    const before = await count();
    await pause(seconds * 1000);
    const after = await count();
    const perSecond = (now: number, then = 0) => (now - then) / seconds;
    const grown = (now: ReadonlyMap<string, number>, then: ReadonlyMap<string, number>) =>
      [...now]
        .map(([name, value]) => [name, perSecond(value, then.get(name))] as const)
        .filter(([, value]) => value > 0);
    return {
      seconds,
      // A core has 1000 ms a second.
      percentOfCore: new Map(grown(after.cpu, before.cpu).map(([part, ms]) => [part, ms / 10])),
      transactionsPerSecond: perSecond(after.transactions, before.transactions),
      redisPerSecond: new Map(grown(after.redis, before.redis)),
    };
  } finally {
    redis.disconnect();
    await database.end();
  }
}

async function countTransactions(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ count: string }>(
    'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(rows[0]!.count);
}

async function countCommands(redis: Redis): Promise<Map<string, number>> {
  const text = await redis.info('commandstats');
  const lines = [...text.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
  return new Map(lines.flatMap(([, name, calls]) => (name === 'info' ? [] : [[name!, Number(calls)] as const])));
}
