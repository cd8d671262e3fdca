import { type Logger, startRedisHeartbeat } from '@runyard/service-kit';
import { Redis } from 'ioredis';
import type { Bucket } from './rate-limit.ts';

export interface RateSharingOptions {
  redisUri: string;
  /** Replicas with the same prefix count together. */
  keyPrefix: string;
  logger: Logger;
}

/** Milliseconds after which replicas know of each other's requests. */
const SHARE_AFTER_MS = 100;
const ANSWER_MS = 1_000;
/** Buckets shared at a time; beyond this each replica counts the subjects for itself. */
const BUCKETS_MAX = 5_000;

/**
 * The debt of a bucket is the time its key has to live: Redis pays it back by itself, and no clocks of replicas are
 * compared. The script adds what a replica took, and returns the debt of all together.
 */
const ADD_DEBTS = `
local debts = {}
for index, key in ipairs(KEYS) do
  local debt = math.max(redis.call('PTTL', key), 0) + ARGV[index]
  debts[index] = math.floor(debt + 0.5)
  if debts[index] > 0 then redis.call('SET', key, '', 'PX', debts[index]) end
end
return debts`;

/**
 * Lets replicas count together over Redis, without delaying requests: each reports what it took a moment ago and gets
 * the total of all. While Redis is away or unresponsive each counts by itself, and does not report later what it
 * counted meanwhile.
 */
export class RateSharing {
  readonly #redis: Redis;
  readonly #keyPrefix: string;
  readonly #logger: Logger;
  readonly #taken = new Set<Bucket>();
  #isSharing = false;
  #isUnavailable = false;

  constructor({ redisUri, keyPrefix, logger }: RateSharingOptions) {
    this.#keyPrefix = keyPrefix;
    this.#logger = logger;
    this.#redis = new Redis(redisUri, {
      connectionName: 'runyard-rate-limits',
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 3_000,
      commandTimeout: ANSWER_MS,
      retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), 2_000),
    }).on('error', (error) => this.#onUnavailable(error));
    startRedisHeartbeat(this.#redis);
  }

  readonly onTaken = (bucket: Bucket): void => {
    if (this.#taken.size < BUCKETS_MAX) this.#taken.add(bucket);
    if (this.#isSharing) return;
    this.#isSharing = true;
    setTimeout(() => void this.#share(), SHARE_AFTER_MS).unref();
  };

  close(): void {
    // Failures to share from here on do not matter.
    this.#isUnavailable = true;
    this.#redis.disconnect();
  }

  async #share(): Promise<void> {
    const reports = [...this.#taken].map((bucket) => ({ bucket, ms: bucket.unsharedMs }));
    this.#taken.clear();
    for (const { bucket } of reports) bucket.unsharedMs = 0;
    try {
      const debts = await this.#add(reports);
      for (const [index, { bucket }] of reports.entries()) applySharedDebt(bucket, debts[index] ?? 0);
      this.#isUnavailable = false;
    } catch (error) {
      this.#onUnavailable(error);
    }
    this.#isSharing = false;
    const [next] = this.#taken;
    if (next) this.onTaken(next);
  }

  async #add(reports: readonly { bucket: Bucket; ms: number }[]): Promise<number[]> {
    const keys = reports.map(({ bucket }) => `${this.#keyPrefix}:rates:${bucket.id}`);
    return (await this.#redis.eval(ADD_DEBTS, keys.length, ...keys, ...reports.map(({ ms }) => ms))) as number[];
  }

  /** Logs once for each time that Redis is away. */
  #onUnavailable(error: unknown): void {
    if (this.#isUnavailable) return;
    this.#isUnavailable = true;
    this.#logger.warn('rate limits not shared, counting per replica', { error });
  }
}

/** Applies a total from Redis, which is never less than what this replica took, unless Redis has forgotten it. */
function applySharedDebt(bucket: Bucket, sharedMs: number): void {
  const debtMs = sharedMs + bucket.unsharedMs;
  const elapsed = performance.now() - bucket.at;
  if (debtMs <= bucket.debtMs - elapsed) return;
  bucket.debtMs = debtMs;
  bucket.at = performance.now();
}
