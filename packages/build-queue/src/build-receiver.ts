import { BUILD_QUEUE, BuildJob, conforms } from '@runyard/contracts';
import { openQueueConnection } from '@runyard/signals/queue-connection';
import { type Job, Worker } from 'bullmq';
import { type BuildQueueOptions, keyPrefixOf } from './queue-settings.ts';

/** Milliseconds after which the job of a builder that was killed is given to another one. */
const LOCK_MS = 10_000;
/** Seconds of one blocking read of the queue; the next follows at once. */
const BLOCK_SECONDS = 10;
const STALLED_CHECK_MS = 5_000;
/** control-plane gives a build up, with a reason, long before. */
const STALLED_MAX = 10;

/** Ends a receiver that has nothing to do. */
export interface IdleEnd {
  /** Milliseconds without a job. */
  afterMs: number;
  /** Is called once, with no job in flight. */
  onIdle(): void;
}

export interface BuildReceiverOptions extends BuildQueueOptions {
  /** Jobs that are worked on at once. */
  concurrency: number;
  /**
   * Works on a job to its end.
   *
   * @param addedAt milliseconds since 1970, by the clock of whoever added it
   */
  onJob(job: BuildJob, addedAt: number): Promise<void>;
  /** Default: it waits for jobs for ever. */
  idle?: IdleEnd | undefined;
}

/** Takes jobs from the queue of builds. */
export class BuildReceiver {
  readonly #worker: Worker<BuildJob>;
  readonly #disconnect: () => void;
  readonly #idle: IdleEnd | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #inFlight = 0;

  constructor({ redis, prefix, concurrency, onJob, idle, onError }: BuildReceiverOptions) {
    this.#idle = idle;
    const connection = openQueueConnection(redis, onError);
    this.#disconnect = () => connection.disconnect();
    const work = async ({ data, timestamp }: Job<BuildJob>) => {
      // Whoever can write to Redis must not be able to make this process do something else.
      if (!conforms(BuildJob, data)) throw new Error('a job of the queue is none of builds');
      this.#inFlight += 1;
      clearTimeout(this.#idleTimer);
      try {
        await onJob(data, timestamp);
      } finally {
        this.#inFlight -= 1;
        this.#waitIdly();
      }
    };
    this.#worker = new Worker(BUILD_QUEUE, work, {
      connection,
      prefix: keyPrefixOf(prefix),
      concurrency,
      autorun: false,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: STALLED_MAX,
      skipVersionCheck: true,
      drainDelay: BLOCK_SECONDS,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.#worker.on('error', onError);
    this.#worker.on('failed', (_job, error) => onError(error));
  }

  start(): void {
    this.#waitIdly();
    this.#worker.run().catch((error: Error) => this.#worker.emit('error', error));
  }

  #waitIdly(): void {
    if (!this.#idle || this.#inFlight > 0) return;
    const { afterMs, onIdle } = this.#idle;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(onIdle, afterMs);
  }

  /** Takes no more jobs, and resolves when the current ones have ended; at the latest after `limitMs`. */
  async close(limitMs: number): Promise<void> {
    clearTimeout(this.#idleTimer);
    // Without a job in flight there is nothing to wait for but its blocking read.
    const closing = this.#worker.close(this.#inFlight === 0).catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    // Without Redis it would wait for ever.
    await Promise.race([closing, late]);
    clearTimeout(timer);
    this.#disconnect();
  }
}
