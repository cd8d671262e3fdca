import { setTimeout as pause } from 'node:timers/promises';
import { LARGE_STATE_BYTES } from '@runyard/checkpointer';
import {
  isConnectionLost,
  isDataError,
  isLockTimeout,
  isRetryable,
  isTimeoutOrOutOfMemory,
  isUnavailable,
} from '@runyard/database';
import {
  type ClaimedRun,
  type ErrorInfo,
  FencedError,
  type FinishedRun,
  type FinishRun,
  type RunEngine,
  type RunRelease,
} from '@runyard/run-engine';
import { type Logger, sanitizeErrorText } from '@runyard/service-kit';
import type { RunPublisher } from '../streams/event-publisher.ts';
import { endEvent, errorEvent, type StreamedAttempt } from '../streams/run-events.ts';
import type { WorkerMetrics } from '../worker-metrics.ts';
import type { Ending } from './ending.ts';
import type { UsageWriter } from './usage-writer.ts';

export interface EndWriterOptions {
  engine: Pick<RunEngine, 'finishRun' | 'releaseRun' | 'findRuns'>;
  run: ClaimedRun;
  publisher: RunPublisher;
  streamed: StreamedAttempt;
  usage: Pick<UsageWriter, 'flush'>;
  metrics: WorkerMetrics;
  logger: Logger;
}

/**
 * Milliseconds between tries to write an end while Postgres is away. The fence decides in the end whether it counts.
 */
const RETRY_MS = 500;
/** Milliseconds for which a run that is given back waits for Redis to take its events. */
const FLUSH_MS = 1_000;
/** Times that an end may be too much for an available database. Then it is written with less, or not at all. */
const TOO_MUCH_MAX = 3;
/** Tries of an end that fail with an error that is neither an outage nor about data. */
const UNFORESEEN_MAX = 20;
const REFUSED = { error: 'EndNotStored', message: 'The database did not take the end of the run.' };
const TOO_SLOW = { error: 'StorageTooSlow', message: 'The end of the run could not be stored in time.' };

/**
 * Writes the end of one attempt into Postgres, however long that is away, and publishes it on the run's stream once it
 * is durable.
 */
export class EndWriter {
  readonly #options: EndWriterOptions;

  constructor(options: EndWriterOptions) {
    this.#options = options;
  }

  /**
   * Returns whether the thread has a run waiting. An end that the database does not take is charged to its run. Throws
   * FencedError when the run has another owner, and the error of a release that the database does not take either: the
   * run is not in flight any more then, and is given back.
   */
  async write(ending: Ending, { isHandedBack }: { isHandedBack: boolean }): Promise<{ hasNextRun: boolean }> {
    await this.#writeUsage(ending);
    switch (ending.kind) {
      case 'finish':
        return this.#finish(ending).catch((error: unknown) => {
          if (error instanceof FencedError) throw error;
          this.#options.logger.error('run end refused', { runId: this.#options.run.runId, error });
          return this.#release({ failure: isTimeoutOrOutOfMemory(error) ? TOO_SLOW : REFUSED }, false);
        });
      case 'release':
        return this.#release(ending.release, isHandedBack);
      case 'drop':
        this.#options.metrics.lost.inc();
        return { hasNextRun: false };
    }
  }

  /** Writes what the attempt has used, which is no reason to withhold its end. */
  async #writeUsage({ kind }: Ending): Promise<void> {
    const { usage, logger, run } = this.#options;
    const isLost = kind === 'drop';
    const write = isLost ? usage.flush() : this.#writeWithRetries(() => usage.flush(), isTimeoutOrOutOfMemory);
    const written = write.catch((error: unknown) => {
      logger.error('usage of a run not stored', { runId: run.runId, error });
    });
    // The slot of a run that has another owner is free at once.
    if (!isLost) await written;
  }

  async #finish(ending: Extract<Ending, { kind: 'finish' }>): Promise<{ hasNextRun: boolean }> {
    const { run, publisher } = this.#options;
    const { values } = ending;
    const error = ending.error && sanitizeError(ending.error);
    const { kind: _kind, ...rest } = ending;
    const { firstEventId } = publisher;
    const finished = await this.#finishRun({
      fence: run.fence,
      runId: run.runId,
      ...rest,
      error,
      ...(firstEventId !== undefined && { firstEventId }),
    });
    this.#count(finished);
    // The sweep continues the rollback, and publishes the end.
    if (finished.isRollingBack) return { hasNextRun: false };
    this.#observeCancel(finished);
    const isWaiting = finished.status === 'success' && ending.threadStatus === 'interrupted';
    this.#publishEnd(finished, values, isWaiting);
    return { hasNextRun: finished.hasNextRun };
  }

  /**
   * Finishes the run. A commit without an answer may have taken effect: then the fence is gone, and the run has ended
   * in this attempt.
   */
  #finishRun(request: FinishRun): Promise<FinishedRun> {
    const { engine, run } = this.#options;
    let finish = request;
    let mayBeWritten = false;
    let tooMuch = 0;
    const write = async (): Promise<FinishedRun> => {
      // This fails, and counts for nothing, while the database is away: only a database that has just answered may have
      // refused the values.
      if (mayBeWritten && isLarge(finish)) await engine.findRuns([finish.runId]);
      try {
        return await engine.finishRun(finish);
      } catch (error) {
        if (isUnavailable(error)) mayBeWritten = true;
        if (isTimeoutOrOutOfMemory(error) || (isLarge(finish) && isConnectionLost(error))) tooMuch += 1;
        if (!mayBeWritten || !(error instanceof FencedError)) throw error;
        const [now] = await engine.findRuns([finish.runId]);
        if (!now || now.attempt !== run.attempt || now.status === 'pending' || now.status === 'running') throw error;
        const unknown = { isRolledBack: false, isRollingBack: false, hasNextRun: true, cancelledForMs: null };
        return { status: now.status, error: now.error, ...unknown };
      }
    };
    return this.#writeWithRetries(write, () => {
      if (tooMuch < TOO_MUCH_MAX) return false;
      if (!isLarge(finish)) return true;
      finish = withoutValues(finish);
      tooMuch = 0;
      return false;
    });
  }

  async #release(release: RunRelease, isHandedBack: boolean): Promise<{ hasNextRun: boolean }> {
    const { engine, run, publisher, metrics } = this.#options;
    // The next attempt takes the stream over, and then these events would be refused and reported as missing.
    await Promise.race([publisher.flush(), pause(FLUSH_MS, undefined, { ref: false })]);
    const { failure, cause } = release;
    const shown = {
      ...release,
      ...(failure && { failure: sanitizeError(failure) }),
      ...(cause && { cause: sanitizeError(cause) }),
    };
    let tooMuch = 0;
    const released = await this.#writeWithRetries(
      () => engine.releaseRun(run.fence, shown),
      (error) => {
        if (isTimeoutOrOutOfMemory(error)) tooMuch += 1;
        return tooMuch >= TOO_MUCH_MAX;
      },
    );
    // The sweep continues the rollback, and publishes the end.
    if (released.outcome === 'rollingBack') return { hasNextRun: false };
    if (released.outcome === 'pending') {
      (isHandedBack && !release.failure ? metrics.handedBack : metrics.failedRetriable).inc();
      return { hasNextRun: true };
    }
    if (released.status === 'error') metrics.failedAfterRetry.inc();
    this.#observeCancel(released);
    this.#publishEnd(released, null);
    return { hasNextRun: true };
  }

  /** Publishes the end without waiting: the slot is free as soon as the end is durable. */
  #publishEnd(
    ended: Pick<FinishedRun, 'status' | 'error' | 'isRolledBack'>,
    values: Uint8Array | null,
    isWaiting = false,
  ): void {
    const { publisher, streamed } = this.#options;
    const { status, error, isRolledBack } = ended;
    const end = endEvent(streamed, status, error ? null : values, { isRolledBack, isWaiting });
    void publisher.end(error ? [errorEvent(streamed, error), end] : [end]);
  }

  /**
   * Retries whatever may pass until `givesUp` says to stop: for as long as the database is away or another transaction
   * is in the way, and a few times after an error that nobody foresaw. Data that was refused is refused again.
   */
  async #writeWithRetries<T>(write: () => Promise<T>, givesUp: (error: unknown) => boolean): Promise<T> {
    const { logger, run } = this.#options;
    let unforeseen = 0;
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (givesUp(error) || error instanceof FencedError || isDataError(error)) throw error;
        if (!isTransient(error)) unforeseen += 1;
        if (unforeseen >= UNFORESEEN_MAX) throw error;
        logger.warn('run end not stored, will retry', { runId: run.runId, error });
        await pause(RETRY_MS);
      }
    }
  }

  #observeCancel({ cancelledForMs }: Pick<FinishedRun, 'cancelledForMs'>): void {
    if (cancelledForMs !== null) this.#options.metrics.cancelLatency.observe(cancelledForMs);
  }

  #count({ status, error }: FinishedRun): void {
    const { metrics } = this.#options;
    if (status === 'success') metrics.succeeded.inc();
    else if (status === 'interrupted') metrics.cancelled.inc();
    else metrics.setToError.inc();
    if (error?.error === 'GraphRecursionError') metrics.recursionLimits.inc();
  }
}

function isTransient(error: unknown): boolean {
  return isUnavailable(error) || isTimeoutOrOutOfMemory(error) || isLockTimeout(error) || isRetryable(error);
}

function isLarge({ values }: FinishRun): boolean {
  return (values?.byteLength ?? 0) > LARGE_STATE_BYTES;
}

/** Returns the end of a run whose result cannot be stored: its state can be read from the checkpoints. */
function withoutValues({ values, ...finish }: FinishRun): FinishRun {
  const megabytes = Math.round((values?.byteLength ?? 0) / 1024 / 1024);
  const error = {
    error: 'StateTooLargeError',
    message: `The final values, ${megabytes} MiB, could not be stored in time.`,
  };
  const nothing = { values: null, interrupts: null, checkpointId: null };
  return { ...finish, ...nothing, status: 'error', threadStatus: 'error', error };
}

function sanitizeError({ error, message }: ErrorInfo): ErrorInfo {
  return { error: sanitizeErrorText(error), message: sanitizeErrorText(message) };
}
