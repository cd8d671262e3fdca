import { setTimeout as pause } from 'node:timers/promises';
import type { RunEngine, RunRecord } from '@runyard/run-engine';
import { type AppendEvent, appendEnd, CONTROL_KINDS, gapAfter, type RunStreams } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';

export interface MissingEndsOptions {
  engine: Pick<RunEngine, 'findRuns' | 'currentEpoch'>;
  streams: Pick<RunStreams, 'append' | 'expireRun' | 'readRunState'>;
  logger: Logger;
  /**
   * Milliseconds that whoever stored an end has to publish it, from when it is missed. Default five seconds: one try
   * that Redis did not answer, another, and an overloaded machine. Nobody waits for this when the end was published.
   */
  patienceMs?: number;
}

/** An event that ends a client's stream. */
export type EndEvent = Pick<AppendEvent, 'kind' | 'event' | 'data'>;

/** The end of an ended run, as far as it can be found. */
export interface FoundEnd {
  /** True when the end is, or was, in the run's stream: readers get it there, unless they came too late. */
  isPublished: boolean;
  /**
   * The `error` and the end, for those who do not get them from the stream; empty when nobody knows how the run ended.
   */
  events: EndEvent[];
}

interface RunKey {
  threadId: string;
  runId: string;
}

const PATIENCE_MS = 5_000;

/**
 * Publishes end events that nobody else has published: whoever stored the end was killed before it could, or Redis did
 * not take them. They are appended to the stream, for all who follow the run or its thread in any process, behind a
 * gap: what the run emitted last is missing with its end. A published end is never published again.
 */
export class MissingEnds {
  readonly #options: MissingEndsOptions;
  readonly #inFlight = new Map<string, Promise<FoundEnd>>();

  constructor(options: MissingEndsOptions) {
    this.#options = options;
  }

  /**
   * Finds or publishes the end of an ended run whose follower got no end event. `hadEnded` says that it had ended when
   * the follower came: the stream may have forgotten such a run long ago, and gets no new end of it.
   */
  async findOrPublish(runKey: RunKey, { hadEnded = false } = {}): Promise<FoundEnd> {
    if (hadEnded && (await this.#needsNoEnd(runKey))) return { isPublished: true, events: [] };
    const { runId } = runKey;
    let publishing = this.#inFlight.get(runId);
    if (!publishing) {
      publishing = this.#publishIfMissing(runKey).finally(() => this.#inFlight.delete(runId));
      this.#inFlight.set(runId, publishing);
    }
    return publishing;
  }

  async #needsNoEnd({ threadId, runId }: RunKey): Promise<boolean> {
    // Without Redis nobody can say; then the client gets what is known.
    const reported = await this.#options.streams.readRunState(threadId, runId).catch(() => undefined);
    return reported !== undefined && (reported.hasEnd || !reported.hasBegun);
  }

  async #publishIfMissing(runKey: RunKey): Promise<FoundEnd> {
    const found: FoundEnd = { isPublished: false, events: [] };
    try {
      const [run] = await this.#options.engine.findRuns([runKey.runId]);
      found.events = endOf(run);
      found.isPublished = (await this.#isPublishedInTime(runKey)) || (await this.#append(runKey, run, found.events));
    } catch (error) {
      this.#options.logger.warn('missing end of a run not published', { runId: runKey.runId, error });
    }
    return found;
  }

  async #isPublishedInTime({ threadId, runId }: RunKey): Promise<boolean> {
    const { streams, patienceMs = PATIENCE_MS } = this.#options;
    if ((await streams.readRunState(threadId, runId)).hasEnd) return true;
    await pause(patienceMs, undefined, { ref: false });
    return (await streams.readRunState(threadId, runId)).hasEnd;
  }

  /** Returns false when nobody may append to the thread: it is not kept, or was deleted. */
  async #append({ threadId, runId }: RunKey, run: RunRecord | undefined, events: EndEvent[]): Promise<boolean> {
    const { engine, streams } = this.#options;
    const currentEpoch = (thread: string) => engine.currentEpoch(thread);
    const epoch = await currentEpoch(threadId);
    if (epoch === undefined) {
      await streams.expireRun(threadId, runId);
      return false;
    }
    // A run that was cancelled before it began has emitted nothing.
    const hasEmitted = run?.attempt !== 0;
    const { newestId } = await streams.readRunState(threadId, runId);
    const missing = hasEmitted ? [gapAfter(newestId, 'lost'), ...events] : events;
    const attempt = Math.max(1, run?.attempt ?? 1);
    await appendEnd(
      { streams, currentEpoch },
      { fence: { threadId, epoch }, isResumable: run?.kwargs.resumable === true },
      missing.map((event) => ({ runId, attempt, ...event })),
    );
    return true;
  }
}

/** Returns the events that whoever ended the run would have published; a missing run was rolled back or deleted. */
function endOf(run: RunRecord | undefined): EndEvent[] {
  const status = run?.status ?? 'interrupted';
  const end = { kind: CONTROL_KINDS.end, event: 'end', data: JSON.stringify({ status }) };
  return run?.error ? [{ kind: 'error', event: 'error', data: JSON.stringify(run.error) }, end] : [end];
}
