import { setTimeout as pause } from 'node:timers/promises';
import { LARGE_STATE_BYTES } from '@runyard/checkpointer';
import { isRetryable, isUnavailable, wasCutOff, wasLocked, wasTooMuch } from '@runyard/database';
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
import { endEvent, errorEvent, type StreamedRun } from '../streams/run-events.ts';
import type { WorkerMetrics } from '../worker-metrics.ts';
import type { Ending } from './ending.ts';

export interface EndWriterOptions {
  engine: Pick<RunEngine, 'finishRun' | 'releaseRun' | 'findRuns'>;
  run: ClaimedRun;
  publisher: RunPublisher;
  streamed: StreamedRun;
  metrics: WorkerMetrics;
  logger: Logger;
}

/** Pause between tries to write an end while Postgres is away. The fence decides in the end whether it counts. */
const RETRY_MS = 500;
/** So often an end may be too much for a database that is there. Then it is written with less, or not at all. */
const TOO_MUCH_MAX = 3;
const TOO_SLOW = { error: 'StorageTooSlow', message: 'The end of the run could not be stored in time.' };

/** Writes the end of one attempt into Postgres, however long that is away, and tells it on the run's stream once it is durable. */
export class EndWriter {
  readonly #options: EndWriterOptions;

  constructor(options: EndWriterOptions) {
    this.#options = options;
  }

  /**
   * Says whether the thread has a run waiting. Throws FencedError when the run is somebody else's, and what was too much for the
   * database again and again: the run is not in hand any more then, and is given back.
   */
  async write(ending: Ending, { isHandedBack }: { isHandedBack: boolean }): Promise<{ hasNextRun: boolean }> {
    switch (ending.kind) {
      case 'finish':
        return this.#finish(ending).catch((error: unknown) => {
          if (!wasTooMuch(error)) throw error;
          return this.#release({ failure: TOO_SLOW }, false);
        });
      case 'release':
        return this.#release(ending.release, isHandedBack);
      case 'drop':
        this.#options.metrics.lost.inc();
        return { hasNextRun: false };
    }
  }

  async #finish(ending: Extract<Ending, { kind: 'finish' }>): Promise<{ hasNextRun: boolean }> {
    const { run, publisher } = this.#options;
    const { values } = ending;
    const error = ending.error && sanitized(ending.error);
    const { kind: _kind, ...rest } = ending;
    const { firstEventId } = publisher;
    const finished = await this.#finished({
      fence: run.fence,
      runId: run.runId,
      ...rest,
      error,
      ...(firstEventId !== undefined && { firstEventId }),
    });
    this.#count(finished);
    // Whoever sweeps goes on with the rollback, and tells the end.
    if (finished.isGoingOn) return { hasNextRun: false };
    this.#observeCancel(finished);
    this.#tellEnd(finished, values);
    return { hasNextRun: finished.hasNextRun };
  }

  /** An end whose commit was not heard of may have taken effect: then the fence is gone, and the run over in this attempt. */
  #finished(asked: FinishRun): Promise<FinishedRun> {
    const { engine, run } = this.#options;
    let finish = asked;
    let mayBeWritten = false;
    let tooMuch = 0;
    const write = async (): Promise<FinishedRun> => {
      // Fails, and counts for nothing, while the database is away: only where it has just answered may the values be to blame.
      if (mayBeWritten && isLarge(finish)) await engine.findRuns([finish.runId]);
      try {
        return await engine.finishRun(finish);
      } catch (error) {
        if (isUnavailable(error)) mayBeWritten = true;
        if (wasTooMuch(error) || (isLarge(finish) && wasCutOff(error))) tooMuch += 1;
        if (!mayBeWritten || !(error instanceof FencedError)) throw error;
        const [now] = await engine.findRuns([finish.runId]);
        if (!now || now.attempt !== run.attempt || now.status === 'pending' || now.status === 'running') throw error;
        const unknown = { isRolledBack: false, isGoingOn: false, hasNextRun: true, cancelledForMs: null };
        return { status: now.status, error: now.error, ...unknown };
      }
    };
    return this.#untilWritten(write, () => {
      if (tooMuch < TOO_MUCH_MAX) return false;
      if (!isLarge(finish)) return true;
      finish = withoutValues(finish);
      tooMuch = 0;
      return false;
    });
  }

  async #release(release: RunRelease, isHandedBack: boolean): Promise<{ hasNextRun: boolean }> {
    const { engine, run, metrics } = this.#options;
    const shown = { ...release, ...(release.failure && { failure: sanitized(release.failure) }) };
    let tooMuch = 0;
    const released = await this.#untilWritten(
      () => engine.releaseRun(run.fence, shown),
      (error) => {
        if (wasTooMuch(error)) tooMuch += 1;
        return tooMuch >= TOO_MUCH_MAX;
      },
    );
    // Whoever sweeps goes on with the rollback, and tells the end.
    if (released.outcome === 'goingOn') return { hasNextRun: false };
    if (released.outcome === 'pending') {
      (isHandedBack && !release.failure ? metrics.handedBack : metrics.failedRetriable).inc();
      return { hasNextRun: true };
    }
    if (released.status === 'error') metrics.failedAfterRetry.inc();
    this.#observeCancel(released);
    this.#tellEnd(released, null);
    return { hasNextRun: true };
  }

  /** Not waited for: the slot is free as soon as the end is durable. */
  #tellEnd(ended: Pick<FinishedRun, 'status' | 'error' | 'isRolledBack'>, values: Uint8Array | null): void {
    const { publisher, streamed } = this.#options;
    const { status, error, isRolledBack } = ended;
    const end = endEvent(streamed, status, error ? null : values, isRolledBack);
    void publisher.end(error ? [errorEvent(streamed, error), end] : [end]);
  }

  /** Tries again while the database is away, or somebody else is in the way. Whether to give up is asked after each failure. */
  async #untilWritten<T>(write: () => Promise<T>, givesUp: (error: unknown) => boolean): Promise<T> {
    const { logger, run } = this.#options;
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (givesUp(error) || !mayPass(error)) throw error;
        logger.warn('the end of a run waits for the database', { runId: run.runId, error });
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

function mayPass(error: unknown): boolean {
  return isUnavailable(error) || wasTooMuch(error) || wasLocked(error) || isRetryable(error);
}

function isLarge({ values }: FinishRun): boolean {
  return (values?.byteLength ?? 0) > LARGE_STATE_BYTES;
}

/** The end of a run whose result cannot be kept: what its checkpoints hold is read from there. */
function withoutValues({ values, ...finish }: FinishRun): FinishRun {
  const megabytes = Math.round((values?.byteLength ?? 0) / 1024 / 1024);
  const error = {
    error: 'StateTooLargeError',
    message: `The final values, ${megabytes} MiB, could not be stored in time.`,
  };
  const nothing = { values: null, interrupts: null, checkpointId: null };
  return { ...finish, ...nothing, status: 'error', threadStatus: 'error', error };
}

function sanitized({ error, message }: ErrorInfo): ErrorInfo {
  return { error: sanitizeErrorText(error), message: sanitizeErrorText(message) };
}
