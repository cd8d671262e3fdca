import { RUN_WAKEUP_QUEUE, type RunWakeup } from '@runyard/contracts';
import { openQueueConnection } from '@runyard/signals/queue-connection';
import { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { queuePrefix, type RunWakeupsOptions } from './run-wakeups.ts';

/** Seconds of one blocking read of the queue; the next follows at once. BullMQ blocks no longer than that. */
const BLOCK_SECONDS = 10;
const TOKEN = 'run-worker';

/**
 * Receives wake-ups for a worker. It listens only while somebody waits on `next`, so that a worker without a free slot
 * takes no wake-up from one that has. A job is complete as soon as it is taken: it stands for no run.
 */
export class WakeupReceiver {
  readonly #redis: Redis;
  readonly #worker: Worker<RunWakeup>;
  #listening: Promise<void> | undefined;
  #isClosed = false;

  constructor({ redis, keyPrefix, onError = () => undefined }: RunWakeupsOptions) {
    this.#redis = openQueueConnection(redis, onError);
    this.#worker = new Worker(RUN_WAKEUP_QUEUE, null, {
      connection: this.#redis,
      prefix: queuePrefix(keyPrefix),
      autorun: false,
      skipVersionCheck: true,
      drainDelay: BLOCK_SECONDS,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.#worker.on('error', onError);
  }

  /**
   * Resolves at the next wake-up; never rejects, and never resolves while Redis is unavailable or after `close`.
   * Calling it again before that returns the same promise.
   */
  next(): Promise<void> {
    this.#listening ??= this.#listen().finally(() => {
      this.#listening = undefined;
    });
    return this.#listening;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // Force skips waiting for the blocking read; there is no job in flight.
    await this.#worker.close(true).catch(() => undefined);
    this.#redis.disconnect();
  }

  async #listen(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const job = await this.#worker.getNextJob(TOKEN);
        if (!job) continue;
        await job.moveToCompleted(null, TOKEN, false);
        return;
      } catch (error) {
        if (this.#isClosed) break;
        this.#worker.emit('error', error instanceof Error ? error : new Error(String(error)));
        await new Promise((resolve) => setTimeout(resolve, 1_000).unref());
      }
    }
    return new Promise(() => undefined);
  }
}
