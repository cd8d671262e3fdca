import { BUILD_QUEUE, type BuildJob } from '@runyard/contracts';
import { openQueueConnection } from '@runyard/signals/queue-connection';
import { Queue } from 'bullmq';
import { type BuildQueueOptions, keyPrefixOf } from './queue-settings.ts';

/** Milliseconds until the caller goes on without Redis. Its next sweep adds the job again. */
const ADD_TIMEOUT_MS = 5_000;

/** Adds jobs to the queue of builds. */
export class BuildSender {
  readonly #queue: Queue<BuildJob>;
  readonly #onError: (error: Error) => void;
  readonly #disconnect: () => void;

  constructor({ redis, prefix, onError }: BuildQueueOptions) {
    this.#onError = onError;
    const connection = openQueueConnection(redis, onError);
    this.#disconnect = () => connection.disconnect();
    this.#queue = new Queue(BUILD_QUEUE, {
      connection,
      prefix: keyPrefixOf(prefix),
      skipVersionCheck: true,
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    this.#queue.on('error', onError);
  }

  /** Adds a job, unless one with its id is in the queue or being worked on. Failures are reported and not thrown. */
  async add(job: BuildJob, { jobId }: { jobId: string }): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ADD_TIMEOUT_MS);
    });
    const added = this.#queue.add('build', job, { jobId }).then(() => undefined, this.#onError);
    await Promise.race([added, late]);
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    await this.#queue.close().catch(this.#onError);
    this.#disconnect();
  }
}
