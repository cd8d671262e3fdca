import { eventsBefore, streamPosition } from '@runyard/host-protocol';
import { type RunStreams, StaleEpochError } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';
import type { WorkerMetrics } from '../worker-metrics.ts';
import type { StreamedAttempt } from './run-events.ts';

export interface LostEventsCheckOptions {
  streams: Pick<RunStreams, 'append' | 'newestPosition'>;
  /**
   * Returns the position of the run's stream when its earlier attempts, whose positions are `below` this one, wrote what
   * the next one goes on from; undefined when that is not known.
   */
  storedPosition(run: { threadId: string; runId: string; below: number }): Promise<number | undefined>;
  metrics: Pick<WorkerMetrics, 'lostEvents'>;
  logger: Logger;
}

/** Every stream is here before the first event of its graph. */
const BEGIN = streamPosition(1, 0);

/**
 * Finds out for a later attempt whether events are missing that it will not emit again. Events are published after the
 * checkpoint they follow is durable, so that a worker may be killed between the two. The attempt goes on behind that
 * checkpoint.
 */
export class LostEventsCheck {
  readonly #options: LostEventsCheckOptions;

  constructor(options: LostEventsCheckOptions) {
    this.#options = options;
  }

  /** Returns true too when nobody knows. Never rejects. */
  async findLoss(run: StreamedAttempt): Promise<boolean> {
    const { metrics, logger } = this.#options;
    const { runId } = run;
    try {
      const lost = await this.#countLost(run);
      if (lost === 0) return false;
      metrics.lostEvents.inc(lost);
      logger.warn('events of an earlier attempt lost', { runId, events: lost });
      return true;
    } catch (error) {
      // The attempt's first append fails for the same reason, and ends it.
      if (error instanceof StaleEpochError) return false;
      logger.warn('events of an earlier attempt possibly lost', { runId, error });
      return true;
    }
  }

  async #countLost({ fence, runId, attempt, isResumable }: StreamedAttempt): Promise<number> {
    const { streams, storedPosition } = this.#options;
    const { threadId } = fence;
    const stored = await storedPosition({ threadId, runId, below: streamPosition(attempt, 0) });
    if (stored === undefined) return 0;
    // From here on no earlier attempt appends any more.
    await streams.append(fence, [], { resumable: isResumable });
    const published = (await streams.newestPosition(threadId, runId)) ?? BEGIN;
    if (published >= stored) return 0;
    // An attempt that published nothing may also have had a gap to report.
    return Math.max(1, Math.min(stored - published, eventsBefore(stored)));
  }
}
