import { resolve } from 'node:path';
import { InfrastructureError } from './infrastructure-error.ts';
import { type KafkaServer, type MissingKafka, startKafka } from './kafka/kafka.ts';
import { noKafka } from './kafka/no-kafka.ts';
import { type PostgresServer, startPostgres } from './postgres/postgres.ts';
import { type RedisServer, startRedis } from './redis/redis.ts';
import type { ReportStep } from './report-step.ts';
import type { ServerContext, StartedServer } from './server-context.ts';
import { openSupervisor, type Supervisor } from './supervision/supervisor.ts';

export interface Servers {
  postgres: PostgresServer;
  redis: RedisServer;
  /** Null when there is none and the caller can work without. */
  kafka: KafkaServer | null;
}

export interface InfrastructureOptions<Name extends keyof Servers> {
  /** The folder of the servers' data, passwords, ports and logs; used again at the next start. */
  dataDir: string;
  servers: readonly Name[];
  /**
   * The address of this machine that started servers listen on, and are reached at. Default: the loopback address.
   * Whoever reaches another one still needs a login.
   */
  host?: string;
  /** True when a missing Kafka is an error. */
  requireKafka?: boolean;
  /**
   * True when Kafka admits everybody, as services of a release from before its users need it. Default: only users with
   * a login.
   */
  isKafkaOpen?: boolean;
  /** Milliseconds that a Kafka may take to start. Default: a minute. */
  kafkaStartMs?: number;
  /** Called with one line for each thing that takes time or is decided. */
  progress?: ReportStep;
  /**
   * The environment with RUNYARD_POSTGRES_URL, RUNYARD_REDIS_URL, RUNYARD_KAFKA_… and PATH. Default: this process's.
   */
  environment?: NodeJS.ProcessEnv;
  /** A caller that supervises further processes of the same folder passes its supervisor, and closes it itself. */
  supervisor?: Supervisor;
}

export type Infrastructure<Name extends keyof Servers> = Pick<Servers, Name> & { stop(): Promise<void> };

const starters = {
  postgres: startPostgres,
  redis: startRedis,
  kafka: startKafka,
};

/**
 * Makes Postgres, Redis and Kafka available on this machine. Each is looked for in this order: an address in the
 * environment, a program on the machine, one from a package registry, Docker. Started servers listen on free ports with
 * generated passwords, and end with the process that started them.
 */
export async function startInfrastructure<Name extends keyof Servers>(
  options: InfrastructureOptions<Name>,
): Promise<Infrastructure<Name>> {
  const supervisor = options.supervisor ?? (await openSupervisor(resolve(options.dataDir)));
  const context: ServerContext = {
    supervisor,
    environment: options.environment ?? process.env,
    progress: options.progress ?? (() => {}),
    host: options.host ?? '127.0.0.1',
    isKafkaOpen: options.isKafkaOpen ?? false,
    kafkaStartMs: options.kafkaStartMs ?? 60_000,
  };
  const started: StartedServer[] = [];
  const stop = async () => {
    await Promise.all(started.map((server) => server.stop()));
    if (!options.supervisor) await supervisor.close();
  };
  const servers: Partial<Record<keyof Servers, StartedServer | null>> = {};
  const attempts = await Promise.allSettled(
    options.servers.map(async (name) => {
      const server = await starters[name](context);
      if (!('missing' in server)) started.push(server);
      servers[name] = withoutKafka(server, options, context);
    }),
  );
  const failed = attempts.find((attempt) => attempt.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  return { ...(servers as Pick<Servers, Name>), stop };
}

function withoutKafka(
  server: StartedServer | MissingKafka,
  options: { requireKafka?: boolean },
  context: ServerContext,
): StartedServer | null {
  if (!('missing' in server)) return server;
  if (options.requireKafka) {
    if (server.error) throw server.error;
    throw new InfrastructureError(noKafka(server.missing));
  }
  context.progress(`Kafka: none (${server.missing}); events go over Redis Streams instead`);
  return null;
}
