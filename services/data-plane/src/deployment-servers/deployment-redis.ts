import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { redisKeyPrefix } from '@runyard/contracts';
import type { Logger } from '@runyard/service-kit';
import { startRedisHeartbeat } from '@runyard/service-kit';
import { Redis } from 'ioredis';

export interface DeploymentRedisOptions {
  /** Connects as an account that may manage users (`ACL SETUSER`), unless users are shared. */
  adminUri: string;
  /** `shared`: deployments get `adminUri` itself, and only their key prefix separates them. */
  users: 'own' | 'shared';
  logger: Logger;
}

/** Users that are created in one pipeline after Redis came back. */
const BATCH = 500;
const COMMAND_TIMEOUT_MS = 30_000;

/**
 * Permits a deployment's user the commands that streams, wake-ups and signals need, on its own keys and channels. The
 * user may not list the names of other keys and channels, change the server, or see other connections.
 */
const COMMANDS = [
  '-@all',
  ...['+@read', '+@write', '+@transaction', '+@pubsub', '+@blocking', '-@dangerous', '-@admin', '-@scripting'],
  ...['+ping', '+auth', '+hello', '+time', '+client|setname', '+info'],
  ...['+eval', '+evalsha', '+script|exists', '+script|load'],
  ...['-scan', '-randomkey', '-dbsize', '-pubsub'],
];

/**
 * Manages the Redis users of deployments: one each, which reaches the deployment's keys and channels alone. Redis
 * forgets users when it restarts, so this process creates its users again on every connection.
 */
export class DeploymentRedis {
  readonly #options: DeploymentRedisOptions;
  readonly #redis: Redis;
  /** Passwords by deployment, of the users that this process maintains. */
  readonly #passwords = new Map<string, string>();

  constructor(options: DeploymentRedisOptions) {
    this.#options = options;
    this.#redis = new Redis(options.adminUri, {
      connectionName: 'runyard-deployments',
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 3_000,
      commandTimeout: COMMAND_TIMEOUT_MS,
      retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), 2_000),
    }).on('error', () => undefined); // Failed commands report the loss; without a listener it would end the process.
    startRedisHeartbeat(this.#redis);
    this.#redis.on('ready', () => void this.#recreateUsers());
  }

  /** Resolves when Redis has all users that are wanted by now. */
  async waitUntilReady(): Promise<void> {
    if (this.#redis.status !== 'ready') await once(this.#redis, 'ready');
    await this.#recreateUsers();
  }

  close(): void {
    this.#redis.disconnect();
  }

  /**
   * Creates the deployment's user, now or as soon as Redis can be reached, and returns the URI with its credentials.
   *
   * @param secret shared by the deployment and the platform only; the password is derived from it
   * @throws when Redis refuses to create users
   */
  async ensure(deploymentId: string, secret: string): Promise<{ uri: string }> {
    const { adminUri, users } = this.#options;
    if (users === 'shared') return { uri: adminUri };
    const password = createHmac('sha256', secret).update(`redis/${deploymentId}`).digest('hex');
    this.#passwords.set(deploymentId, password);
    await this.#createUsers([[deploymentId, password]]);
    const uri = new URL(adminUri);
    uri.username = userOf(deploymentId);
    uri.password = password;
    return { uri: uri.href };
  }

  /**
   * Removes the user and the deployment's keys. The deployment's processes must have ended, as keys made meanwhile may
   * stay.
   */
  async remove(deploymentId: string): Promise<void> {
    this.#passwords.delete(deploymentId);
    // A new client waits until it is connected; the permanent one fails at once while disconnected.
    const redis = new Redis(this.#options.adminUri, {
      maxRetriesPerRequest: 1,
      connectTimeout: 5_000,
      commandTimeout: COMMAND_TIMEOUT_MS,
      lazyConnect: true,
    });
    redis.on('error', () => undefined); // The failed command reports the loss.
    try {
      await redis.connect();
      if (this.#options.users === 'own') await redis.call('ACL', 'DELUSER', userOf(deploymentId));
      // Some keys have the prefix inside hash-tag braces.
      for await (const keys of redis.scanStream({ match: `*${redisKeyPrefix(deploymentId)}*`, count: 1000 })) {
        if (keys.length > 0) await redis.unlink(...keys);
      }
    } finally {
      redis.disconnect();
    }
  }

  async #recreateUsers(): Promise<void> {
    const all = [...this.#passwords];
    for (let start = 0; start < all.length; start += BATCH) {
      await this.#createUsers(all.slice(start, start + BATCH)).catch((error: unknown) => {
        this.#options.logger.error('Redis user creation failed', { error });
      });
    }
  }

  async #createUsers(users: [deploymentId: string, password: string][]): Promise<void> {
    // Every new connection creates all users.
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

/** Defines the whole user. It replaces all earlier rules in one step, which existing connections do not notice. */
function rulesOf(deploymentId: string, password: string): string[] {
  const prefix = redisKeyPrefix(deploymentId);
  const names = [`${prefix}:*`, `{${prefix}}:*`, `{${prefix}:*`];
  return [
    ...['resetkeys', 'resetchannels', 'resetpass', 'on', `>${password}`],
    ...names.flatMap((name) => [`~${name}`, `&${name}`]),
    ...COMMANDS,
  ];
}
