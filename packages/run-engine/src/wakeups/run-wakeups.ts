import { RUN_WAKEUP_QUEUE, type RunWakeup } from '@runyard/contracts';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { findRedisWarnings, openWakeupConnection } from './redis-connection.ts';

export interface RunWakeupsOptions {
  /** Redis URL. */
  redis: string;
  /** The deployment's REDIS_KEY_PREFIX. */
  keyPrefix: string;
  /** Is called when Redis cannot be reached or refuses. No action is needed. */
  onError?: (error: Error) => void;
}

const LATER_MAX = 1_000;

/** BullMQ's own key prefix, in braces so that a queue's keys are in one slot of a cluster. */
export const queuePrefix = (keyPrefix: string): string => `{${keyPrefix}}`;

/**
 * Wakes workers when there is work. The claim in Postgres decides which work. A lost wake-up costs the time until a
 * worker polls, so nobody waits for one to be sent.
 *
 * However many runs are accepted, at most one wake-up per second waits in the queue: a worker that takes one claims
 * until nothing is left, and sends another wake-up when its slots are full.
 */
export class RunWakeups {
  readonly #redis: Redis;
  readonly #queue: Queue<RunWakeup>;
  readonly #onError: (error: Error) => void;
  #isSending = false;
  #isAskedAgain: RunWakeup['reason'] | undefined;
  /** Delayed wake-ups that are being sent. */
  readonly #later = new Set<string>();

  constructor({ redis, keyPrefix, onError = () => undefined }: RunWakeupsOptions) {
    this.#onError = onError;
    this.#redis = openWakeupConnection(redis, onError);
    this.#queue = new Queue(RUN_WAKEUP_QUEUE, {
      connection: this.#redis,
      prefix: queuePrefix(keyPrefix),
      // `warnings` checks the version once at the start, not on every connection.
      skipVersionCheck: true,
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    this.#queue.on('error', onError);
  }

  /** Wakes workers after a commit. Calls during a send become one. */
  wake(reason: RunWakeup['reason']): void {
    if (this.#isSending) {
      this.#isAskedAgain = reason;
      return;
    }
    this.#isSending = true;
    void this.#send(reason, { jobId: `now-${secondIn(0)}`, delay: 0 }).finally(() => {
      this.#isSending = false;
      const again = this.#isAskedAgain;
      this.#isAskedAgain = undefined;
      if (again) this.wake(again);
    });
  }

  /** Sends a delayed wake-up for a run that may start later. */
  wakeAfter(seconds: number): void {
    const delayMs = Math.ceil(seconds * 1000);
    const jobId = `later-${secondIn(delayMs)}`;
    // While Redis is unavailable they wait; workers that poll find the runs of those beyond the limit.
    if (this.#later.has(jobId) || this.#later.size >= LATER_MAX) return;
    this.#later.add(jobId);
    void this.#send('created', { jobId, delay: delayMs }).finally(() => this.#later.delete(jobId));
  }

  /** Returns the faults of this Redis for queues; throws when it cannot be reached. */
  warnings(): Promise<string[]> {
    return findRedisWarnings(this.#redis);
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
 * Returns the second for a job id. BullMQ keeps one job per id, so that many wake-ups of a second become one. If the
 * worker that took a job dies, it hides later wake-ups for at most a second.
 */
function secondIn(ms: number): number {
  return Math.floor((Date.now() + ms) / 1000);
}
