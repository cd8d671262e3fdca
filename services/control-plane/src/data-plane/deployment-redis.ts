import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { Logger } from '@runyard/service-kit';
import { keepAlive } from '@runyard/service-kit';
import { Redis } from 'ioredis';

export interface DeploymentRedisOptions {
  /** As an account that may manage users (`ACL SETUSER`), unless users are shared. */
  adminUri: string;
  /** `shared`: deployments get `adminUri` itself, and are kept apart by nothing but their key prefix. */
  users: 'own' | 'shared';
  logger: Logger;
}

/** Redis has this many users made in one go after it came back. */
const BATCH = 500;
const COMMAND_TIMEOUT_MS = 30_000;

/**
 * What a deployment's user may do: what streams, wake-ups and signals take, on its own keys and channels. It may not list the
 * names of others' keys and channels, change the server, or see who else is connected.
 */
const COMMANDS = [
  '-@all',
  ...['+@read', '+@write', '+@transaction', '+@pubsub', '+@blocking', '-@dangerous', '-@admin', '-@scripting'],
  ...['+ping', '+auth', '+hello', '+time', '+client|setname', '+info'],
  ...['+eval', '+evalsha', '+script|exists', '+script|load'],
  ...['-scan', '-randomkey', '-dbsize', '-pubsub'],
];

/** Every Redis key and channel of a deployment begins with this, or with this in hash-tag braces. */
export function redisKeyPrefix(deploymentId: string): string {
  return `runyard:${deploymentId}`;
}

/**
 * The Redis users of deployments: one each, which reaches the deployment's keys and channels alone. Redis forgets users when it is
 * started again, so those of this process are made anew whenever it is connected to.
 */
export class DeploymentRedis {
  readonly #options: DeploymentRedisOptions;
  readonly #redis: Redis;
  /** Passwords by deployment, of those this process looks after. */
  readonly #wanted = new Map<string, string>();

  constructor(options: DeploymentRedisOptions) {
    this.#options = options;
    this.#redis = new Redis(options.adminUri, {
      connectionName: 'runyard-deployments',
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 3_000,
      commandTimeout: COMMAND_TIMEOUT_MS,
      retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), 2_000),
    }).on('error', () => undefined); // Losses show in what they fail; without a listener they would end the process.
    keepAlive(this.#redis);
    this.#redis.on('ready', () => void this.#makeAgain());
  }

  /** Resolves when the users wanted by now are made. */
  async untilReady(): Promise<void> {
    if (this.#redis.status !== 'ready') await once(this.#redis, 'ready');
    await this.#makeAgain();
  }

  close(): void {
    this.#redis.disconnect();
  }

  /**
   * Where the deployment reaches Redis, as its own user; makes that user, now or as soon as Redis can be reached.
   *
   * @param secret known to nobody but the deployment and the platform
   * @throws when Redis refuses to make users
   */
  async ensure(deploymentId: string, secret: string): Promise<{ uri: string }> {
    const { adminUri, users } = this.#options;
    if (users === 'shared') return { uri: adminUri };
    const password = createHmac('sha256', secret).update(`redis/${deploymentId}`).digest('hex');
    this.#wanted.set(deploymentId, password);
    await this.#make([[deploymentId, password]]);
    const uri = new URL(adminUri);
    uri.username = userOf(deploymentId);
    uri.password = password;
    return { uri: uri.href };
  }

  /** Removes the user and what the deployment left. Keys made meanwhile may stay: its processes must have ended. */
  async remove(deploymentId: string): Promise<void> {
    this.#wanted.delete(deploymentId);
    // A client of its own waits for a connection, which the one that is kept does not.
    const redis = new Redis(this.#options.adminUri, {
      maxRetriesPerRequest: 1,
      connectTimeout: 5_000,
      commandTimeout: COMMAND_TIMEOUT_MS,
      lazyConnect: true,
    });
    redis.on('error', () => undefined); // The command under way reports it.
    try {
      await redis.connect();
      if (this.#options.users === 'own') await redis.call('ACL', 'DELUSER', userOf(deploymentId));
      // The prefix also stands inside hash-tag braces.
      for await (const keys of redis.scanStream({ match: `*${redisKeyPrefix(deploymentId)}*`, count: 1000 })) {
        if (keys.length > 0) await redis.unlink(...keys);
      }
    } finally {
      redis.disconnect();
    }
  }

  async #makeAgain(): Promise<void> {
    const all = [...this.#wanted];
    for (let start = 0; start < all.length; start += BATCH) {
      await this.#make(all.slice(start, start + BATCH)).catch((error: unknown) => {
        this.#options.logger.error('Redis users of deployments cannot be made', { error });
      });
    }
  }

  async #make(users: [deploymentId: string, password: string][]): Promise<void> {
    // All of them are made when it is connected to.
    if (this.#redis.status !== 'ready') return;
    const pipeline = this.#redis.pipeline();
    for (const [id, password] of users) pipeline.call('ACL', 'SETUSER', userOf(id), ...rulesOf(id, password));
    const results = await pipeline.exec().catch(() => null);
    const refusal = results?.find(([error]) => error?.name === 'ReplyError')?.[0];
    if (refusal) {
      throw new Error(
        `Redis refuses to make a user (${refusal.message}). Let DATA_REDIS_URI name an account that may use ACL SETUSER, or set DATA_REDIS_USERS=shared.`,
      );
    }
  }
}

function userOf(deploymentId: string): string {
  return `runyard_${deploymentId.replaceAll('-', '')}`;
}

/** The whole user: whatever it was before is forgotten, in one step that no connection of it notices. */
function rulesOf(deploymentId: string, password: string): string[] {
  const prefix = redisKeyPrefix(deploymentId);
  const names = [`${prefix}:*`, `{${prefix}}:*`, `{${prefix}:*`];
  return [
    ...['resetkeys', 'resetchannels', 'resetpass', 'on', `>${password}`],
    ...names.flatMap((name) => [`~${name}`, `&${name}`]),
    ...COMMANDS,
  ];
}
