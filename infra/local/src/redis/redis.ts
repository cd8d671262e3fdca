import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findDocker, startContainer } from '../docker.ts';
import { readOrCreateSecret, writePrivateFile } from '../files/private-file.ts';
import { InfrastructureError, reasonOf } from '../infrastructure-error.ts';
import { choosePort } from '../ports.ts';
import type { ServerContext, StartedServer } from '../server-context.ts';
import { waitForServer } from '../wait-for-server.ts';
import { lookForValkey } from './fetch-valkey.ts';
import { findInstalledRedis, findRedis } from './installations.ts';

export interface RedisServer extends StartedServer {
  url: string;
  /** Its user reaches the queue of builds alone. A server that is not our own has `url` here. */
  buildsUrl: string;
  /** Its user reads the events of deployments alone. A server that is not our own has `url` here. */
  historyUrl: string;
}

/** Builders need BullMQ's commands, on the keys of their queue. */
const BUILDS_USER = 'runyard-builds';
const BUILDS_RULES = [
  ...['~{runyard:builds}:*', '-@all', '+@read', '+@write', '+@transaction', '+@blocking', '-@dangerous', '-@admin'],
  ...['+ping', '+auth', '+hello', '+time', '+client|setname', '+info', '-@scripting', '-scan', '-randomkey', '-dbsize'],
  ...['+eval', '+evalsha', '+script|exists', '+script|load'],
].join(' ');

/** run-history reads the event streams of deployments. It could delete them if it had commands for other keys too. */
const HISTORY_USER = 'runyard-history';
const HISTORY_RULES = [
  ...['~{runyard:*}:bus:runyard.runs', '-@all', '+xgroup|create', '+xreadgroup', '+xack'],
  ...['+ping', '+auth', '+hello', '+client|setname', '+info'],
].join(' ');

const variable = 'RUNYARD_REDIS_URL';

const noRedis = (missing: string) =>
  new InfrastructureError(
    `There is no Redis here (${missing}): install redis-server 6.2 or newer, or set ${variable} to a server that may be used, or start Docker.`,
  );

/**
 * Returns which Redis a start would use, in words. It starts and fetches nothing.
 *
 * @throws InfrastructureError when there is none
 */
export async function lookForRedis(environment: NodeJS.ProcessEnv): Promise<string> {
  const given = environment[variable];
  if (given) return `${await checkRedis(given, `Redis at ${variable}`)}, the one at ${variable}`;
  const program = await findInstalledRedis(environment);
  if (program) return program;
  try {
    return `Valkey, ${await lookForValkey(environment)}`;
  } catch (error) {
    if (!(error instanceof InfrastructureError)) throw error;
    if (await findDocker(environment)) return 'redis:7, by Docker';
    throw noRedis(reasonOf(error));
  }
}

export async function startRedis(context: ServerContext): Promise<RedisServer> {
  const given = context.environment[variable];
  if (given) {
    const version = await checkRedis(given, `Redis at ${variable}`);
    context.progress(`Redis ${version}: the one at ${variable}`);
    return { origin: 'environment', url: given, buildsUrl: given, historyUrl: given, stop: async () => {} };
  }
  const { dataDir } = context.supervisor;
  const folder = join(dataDir, 'redis');
  await mkdir(folder, { recursive: true });
  const port = await choosePort(dataDir, 'redis');
  const password = await readOrCreateSecret(join(dataDir, 'redis.password'));
  const buildsPassword = await readOrCreateSecret(join(dataDir, 'redis.builds-password'));
  const historyPassword = await readOrCreateSecret(join(dataDir, 'redis.history-password'));
  const configFile = join(dataDir, 'redis.conf');
  const logFile = join(dataDir, 'redis.log');
  const url = `redis://:${password}@${context.host}:${port}`;
  const urlOf = (user: string, secret: string) => `redis://${user}:${secret}@${context.host}:${port}`;

  const found = await findRedis(context);
  const docker = 'missing' in found ? await findDocker(context.environment) : null;
  if ('missing' in found && !docker) {
    throw noRedis(found.missing);
  }
  // The password is in a private file because everybody can read a command line.
  const { host } = context;
  const passwords = { password, buildsPassword, historyPassword };
  await writePrivateFile(configFile, redisConfig({ host, port, ...passwords, folder }, Boolean(docker)));
  const server =
    'program' in found
      ? await context.supervisor.start({
          name: 'Redis',
          command: found.program,
          args: [configFile],
          cwd: folder,
          logFile,
        })
      : await startContainer(context.supervisor, docker ?? '', {
          name: 'redis',
          image: 'redis:7',
          host,
          port: { host: port, container: port },
          volumes: { [folder]: '/data', [configFile]: '/etc/redis.conf:ro' },
          env: {},
          command: ['sh', '-c', 'redis-server - < /etc/redis.conf'],
          logFile,
          progress: context.progress,
        });
  let version = '';
  await waitForServer({
    server,
    logFile,
    timeoutMs: 60_000,
    ask: async () => {
      version = await checkRedis(url, 'Redis');
    },
  });
  const origin = 'program' in found ? found.origin : 'docker';
  context.progress(`Redis ${version} (${origin}) on port ${port}`);
  return {
    origin,
    url,
    buildsUrl: urlOf(BUILDS_USER, buildsPassword),
    historyUrl: urlOf(HISTORY_USER, historyPassword),
    stop: async () => void (await server.stop(5_000)),
  };
}

/**
 * Returns the configuration. Wake-ups and event streams are kept in an append-only file. `noeviction` is required: a
 * Redis that may evict keys under memory pressure evicts queues.
 */
function redisConfig(
  server: {
    host: string;
    port: number;
    password: string;
    buildsPassword: string;
    historyPassword: string;
    folder: string;
  },
  inContainer: boolean,
): string {
  return [
    `bind ${inContainer ? '0.0.0.0' : server.host}`,
    `port ${server.port}`,
    `requirepass ${server.password}`,
    `user ${BUILDS_USER} on >${server.buildsPassword} ${BUILDS_RULES}`,
    `user ${HISTORY_USER} on >${server.historyPassword} ${HISTORY_RULES}`,
    `dir ${JSON.stringify(inContainer ? '/data' : server.folder)}`,
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    'maxmemory-policy noeviction',
    '',
  ].join('\n');
}

/** Returns the server's version; throws one sentence when it cannot be used. */
async function checkRedis(url: string, name: string): Promise<string> {
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: 5_000, retryStrategy: () => null });
  redis.on('error', () => {}); // The call's own error reports the cause.
  try {
    await redis.connect();
    const info = await redis.info();
    const field = (key: string) => new RegExp(`^${key}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? '';
    const version = field('redis_version');
    const [major = 0, minor = 0] = version.split('.').map(Number);
    if (major < 6 || (major === 6 && minor < 2)) {
      throw new InfrastructureError(`${name} is version ${version}: 6.2 or newer is needed.`);
    }
    const policy = field('maxmemory_policy');
    if (policy && policy !== 'noeviction') {
      throw new InfrastructureError(
        `${name} has maxmemory-policy ${policy} and may throw queued work away: set it to noeviction.`,
      );
    }
    return version;
  } catch (error) {
    if (error instanceof InfrastructureError) throw error;
    throw new InfrastructureError(`${name} cannot be used: ${reasonOf(error)}.`);
  } finally {
    redis.disconnect();
  }
}
