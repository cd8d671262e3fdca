import { RUN_WAKEUP_QUEUE, type RunWakeup } from '@runyard/contracts';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { openWakeupConnection, redisComplaints } from './redis-connection.ts';

export interface RunWakeupsOptions {
  /** Redis URL. */
  redis: string;
  /** The deployment's REDIS_KEY_PREFIX. */
  keyPrefix: string;
  /** Told when Redis cannot be reached or refuses; nothing has to be done about it. */
  onError?: (error: Error) => void;
}

const LATER_MAX = 1_000;

/** BullMQ's own key prefix, in braces so that a queue's keys share one slot of a cluster. */
export const queuePrefix = (keyPrefix: string): string => `{${keyPrefix}}`;

/**
 * Tells workers that there is work, and no more: which work is decided by claiming in Postgres. A wake-up that is lost costs
 * the time until a worker looks by itself, so nobody waits for one to be sent.
 *
 * However many runs are accepted, at most one wake-up per second and moment waits in the queue: a worker that takes one
 * claims until nothing is left, and passes the word on when its slots are full.
 */
export class RunWakeups {
  readonly #redis: Redis;
  readonly #queue: Queue<RunWakeup>;
  readonly #onError: (error: Error) => void;
  #isSending = false;
  #isAskedAgain: RunWakeup['reason'] | undefined;
  /** Wake-ups for later that are on their way. */
  readonly #later = new Set<string>();

  constructor({ redis, keyPrefix, onError = () => undefined }: RunWakeupsOptions) {
    this.#onError = onError;
    this.#redis = openWakeupConnection(redis, onError);
    this.#queue = new Queue(RUN_WAKEUP_QUEUE, {
      connection: this.#redis,
      prefix: queuePrefix(keyPrefix),
      // Looked at once at the start (`complaints`), not on every connection.
      skipVersionCheck: true,
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    this.#queue.on('error', onError);
  }

  /** To be called after the commit. Calls that come while one is being sent become one. */
  kick(reason: RunWakeup['reason']): void {
    if (this.#isSending) {
      this.#isAskedAgain = reason;
      return;
    }
    this.#isSending = true;
    void this.#send(reason, { jobId: `now-${secondIn(0)}`, delay: 0 }).finally(() => {
      this.#isSending = false;
      const again = this.#isAskedAgain;
      this.#isAskedAgain = undefined;
      if (again) this.kick(again);
    });
  }

  /** A wake-up for a run that may start later. */
  kickAfter(seconds: number): void {
    const delayMs = Math.ceil(seconds * 1000);
    const jobId = `later-${secondIn(delayMs)}`;
    // While Redis is away they wait, and those beyond are found by workers that look by themselves.
    if (this.#later.has(jobId) || this.#later.size >= LATER_MAX) return;
    this.#later.add(jobId);
    void this.#send('created', { jobId, delay: delayMs }).finally(() => this.#later.delete(jobId));
  }

  /** What is wrong with this Redis for queues; throws when it cannot be asked. */
  complaints(): Promise<string[]> {
    return redisComplaints(this.#redis);
  }

  async close(): Promise<void> {
    await this.#queue.close().catch(this.#onError);
    this.#redis.disconnect();
  }

  async #send(reason: RunWakeup['reason'], job: { jobId: string; delay: number }): Promise<void> {
    try {
      await this.#queue.add('wake', { reason }, job);
    } catch (error) {
      this.#onError(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/**
 * Jobs of one id are one job while it waits. With the second in the id, a job whose taker died with it hides later wake-ups for a
 * second at most.
 */
function secondIn(ms: number): number {
  return Math.floor((Date.now() + ms) / 1000);
}
