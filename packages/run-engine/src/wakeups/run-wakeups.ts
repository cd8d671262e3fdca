import { setImmediate as nextTurn } from 'node:timers/promises';
import { RUN_WAKEUP_QUEUE, type RunWakeup } from '@runyard/contracts';
import { openQueueConnection } from '@runyard/signals/queue-connection';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { findRedisWarnings } from './redis-warnings.ts';

export interface RunWakeupsOptions {
  /** Redis URL. */
  redis: string;
  /** The deployment's REDIS_KEY_PREFIX. */
  keyPrefix: string;
  /** Is called when Redis cannot be reached or refuses. No action is needed. */
  onError?: (error: Error) => void;
  /**
   * Wakes a worker in this process, and returns whether it has room and looks for runs at once: then nobody else is
   * woken. It wakes others itself when there is more than fits.
   */
  wakeHere?: () => boolean;
}

const LATER_MAX = 1_000;

/** BullMQ's own key prefix, in braces so that a queue's keys are in one slot of a cluster. */
export const queuePrefix = (keyPrefix: string): string => `{${keyPrefix}}`;

/**
 * Wakes workers when there is work. The claim in Postgres decides which work. A lost wake-up costs the time until a
 * worker polls, so nobody waits for one to be sent.
 *
 * All runs that wait share one wake-up, whichever process accepted them: a worker that takes it claims until nothing is
 * left, and sends another when its slots are full.
 */
export class RunWakeups {
  readonly #redis: Redis;
  readonly #queue: Queue<RunWakeup>;
  readonly #onError: (error: Error) => void;
  readonly #wakeHere: () => boolean;
  /** The reason of a wake-up that was asked for since the last one began to be sent. */
  #asked: RunWakeup['reason'] | undefined;
  #isSending = false;
  /** Delayed wake-ups that are being sent. */
  readonly #later = new Set<string>();

  constructor({ redis, keyPrefix, onError = () => undefined, wakeHere = () => false }: RunWakeupsOptions) {
    this.#onError = onError;
    this.#wakeHere = wakeHere;
    this.#redis = openQueueConnection(redis, onError);
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

  /** Wakes workers after a commit. Calls of one turn of the event loop, and those during a send, become one. */
  wake(reason: RunWakeup['reason']): void {
    if (this.#wakeHere()) return;
    this.#asked = reason;
    if (!this.#isSending) void this.#sendAsked();
  }

  /** Sends a delayed wake-up for a run that may start later. */
  wakeAfter(seconds: number): void {
    const delayMs = Math.ceil(seconds * 1000);
    const jobId = `later-${secondIn(delayMs)}`;
    // While Redis is unavailable they wait; workers that poll find the runs of those beyond the limit.
    if (this.#later.has(jobId) || this.#later.size >= LATER_MAX) return;
    this.#later.add(jobId);
    void this.#add('created', { jobId, delay: delayMs }).finally(() => this.#later.delete(jobId));
  }

  /** Returns the faults of this Redis for queues; throws when it cannot be reached. */
  warnings(): Promise<string[]> {
    return findRedisWarnings(this.#redis);
  }

  async close(): Promise<void> {
    await this.#queue.close().catch(this.#onError);
    this.#redis.disconnect();
  }

  async #sendAsked(): Promise<void> {
    this.#isSending = true;
    while (this.#asked) {
      // Runs that were committed together wake together.
      await nextTurn();
      const reason = this.#asked;
      this.#asked = undefined;
      if (!(await this.#isOneWaiting())) await this.#add(reason);
    }
    this.#isSending = false;
  }

  /**
   * Returns whether a wake-up waits that some worker will take after now, and claim after that. It is in the list until
   * it is taken, and BullMQ's marker is there until a worker is woken by it. Without its marker a wake-up may be one
   * whose worker died before it took it; and whoever takes the last one leaves a marker behind.
   */
  async #isOneWaiting(): Promise<boolean> {
    try {
      const [waiting, markers] = await Promise.all([
        this.#redis.llen(this.#queue.toKey('wait')),
        this.#redis.exists(this.#queue.toKey('marker')),
      ]);
      return waiting > 0 && markers > 0;
    } catch (error) {
      this.#report(error);
      return false;
    }
  }

  async #add(reason: RunWakeup['reason'], job: { jobId?: string; delay?: number } = {}): Promise<void> {
    try {
      await this.#queue.add('wake', { reason }, job);
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    this.#onError(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Returns the second for a job id. BullMQ keeps one job per id, so that the delayed wake-ups of a second become one. */
function secondIn(ms: number): number {
  return Math.floor((Date.now() + ms) / 1000);
}
