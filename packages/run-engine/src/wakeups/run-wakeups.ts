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
    void this.#send(reason, 0).finally(() => {
      this.#isSending = false;
      const again = this.#isAskedAgain;
      this.#isAskedAgain = undefined;
      if (again) this.kick(again);
    });
  }

  /** A wake-up for a run that may start later. */
  kickAfter(seconds: number): void {
    void this.#send('created', Math.ceil(seconds * 1000));
  }

  /** What is wrong with this Redis for queues; throws when it cannot be asked. */
  complaints(): Promise<string[]> {
    return redisComplaints(this.#redis);
  }

  async close(): Promise<void> {
    await this.#queue.close().catch(this.#onError);
    this.#redis.disconnect();
  }

  async #send(reason: RunWakeup['reason'], delayMs: number): Promise<void> {
    // Jobs of one id are one job while it waits. With the second in the id, a job whose taker died with it hides later
    // wake-ups for a second at most.
    const second = Math.floor((Date.now() + delayMs) / 1000);
    const jobId = delayMs > 0 ? `later-${second}` : `now-${second}`;
    try {
      await this.#queue.add('wake', { reason }, { jobId, delay: delayMs });
    } catch (error) {
      this.#onError(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
