import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from '../bench/bench.ts';
import type { BenchDeployment } from '../bench/deployment.ts';
import type { Part } from '../bench/part.ts';

/** One fault, which has ended when `strike` resolves. */
export interface Fault {
  name: string;
  inject(): Promise<void>;
}

/**
 * Returns the faults of a deployment. The first agent-api and the first worker are never killed themselves, so that
 * their resources can be watched over the whole time.
 */
export function createFaults({ servers, random }: Bench, { agentApis, workers }: BenchDeployment): Fault[] {
  const parts = [...agentApis, ...workers];
  const [otherApi, otherWorker] = [agentApis[1] as Part, workers[1] as Part];
  const { postgres, redis, kafka } = servers;
  const again = async (part: Part, signal: NodeJS.Signals) => {
    await part.kill(signal);
    await part.start();
  };
  const awhile = () => pause(random.integer(1_000, 8_000));
  return [
    { name: 'a worker is killed', inject: () => again(otherWorker, 'SIGKILL') },
    { name: 'an agent-api is killed', inject: () => again(otherApi, 'SIGKILL') },
    { name: 'a worker is asked to stop', inject: () => again(otherWorker, 'SIGTERM') },
    { name: 'an agent-api is asked to stop', inject: () => again(otherApi, 'SIGTERM') },
    {
      name: 'a worker stands still past its lease',
      inject: async () => {
        otherWorker.pause();
        await pause(8_000);
        otherWorker.resume();
      },
    },
    {
      name: 'Redis is killed and comes back empty',
      inject: async () => {
        await redis.kill();
        await redis.wipe();
        await awhile();
        await redis.start();
      },
    },
    {
      name: 'Postgres stops at once and comes back',
      inject: async () => {
        await postgres.kill();
        await awhile();
        await postgres.start();
      },
    },
    {
      name: 'Kafka is killed and comes back',
      inject: async () => {
        await kafka.kill();
        await awhile();
        await kafka.start();
      },
    },
    ...(['postgres', 'redis'] as const).flatMap((server) =>
      (['refuse', 'partition', 'reset'] as const).map((how) => ({
        name: `${how} ${server} of one part`,
        inject: async () => {
          const line = random.pick(parts).lines[server];
          await line[how]();
          await awhile();
          await line.heal();
        },
      })),
    ),
  ];
}
