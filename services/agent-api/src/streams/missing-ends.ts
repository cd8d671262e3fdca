import { setTimeout as pause } from 'node:timers/promises';
import type { RunEngine, RunRecord } from '@runyard/run-engine';
import { type AppendEvent, appendEnd, CONTROL_KINDS, gapAfter, type RunStreams } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';

export interface MissingEndsOptions {
  engine: Pick<RunEngine, 'findRuns' | 'currentEpoch'>;
  streams: Pick<RunStreams, 'append' | 'expire' | 'toldOf'>;
  logger: Logger;
  /**
   * How long whoever wrote an end down has to tell it, from when somebody misses it. Default five seconds: one try that Redis did not
   * answer, another, and a machine with more to do than it can. Nobody waits for this whose end is told.
   */
  patienceMs?: number;
}

/** What a client is to be told at last. */
export type TellingEvent = Pick<AppendEvent, 'kind' | 'event' | 'data'>;

/** What became of the end of a run that is over. */
export interface FoundEnd {
  /** It is in the run's stream, or was: who reads on gets it, unless it came too late for it. */
  isTold: boolean;
  /** The `error` and the end, for those whom the stream does not tell; empty when nobody knows how the run ended. */
  events: TellingEvent[];
}

interface Place {
  threadId: string;
  runId: string;
}

const PATIENCE_MS = 5_000;

/**
 * Sees to it that the ends of runs are told that nobody else has told: whoever wrote them down was killed before it could, or Redis
 * did not take them. They are appended to the stream, for all who follow the run or its thread in any process, behind a gap: what
 * the run emitted last is missing with its end. An end that was told is never told again.
 */
export class MissingEnds {
  readonly #options: MissingEndsOptions;
  readonly #underWay = new Map<string, Promise<FoundEnd>>();

  constructor(options: MissingEndsOptions) {
    this.#options = options;
  }

  /**
   * For a run that is over, and whose follower has heard no end. `wasOver`: it was when the follower came. The stream may have
   * forgotten such a run long ago, and is not told of it anew.
   */
  async tell(place: Place, { wasOver = false } = {}): Promise<FoundEnd> {
    if (wasOver && (await this.#isNoNews(place))) return { isTold: true, events: [] };
    const { runId } = place;
    let telling = this.#underWay.get(runId);
    if (!telling) {
      telling = this.#tell(place).finally(() => this.#underWay.delete(runId));
      this.#underWay.set(runId, telling);
    }
    return telling;
  }

  async #isNoNews({ threadId, runId }: Place): Promise<boolean> {
    // Without Redis nobody can say; then it is told what is known.
    const told = await this.#options.streams.toldOf(threadId, runId).catch(() => undefined);
    return told !== undefined && (told.hasEnd || !told.hasBegun);
  }

  async #tell(place: Place): Promise<FoundEnd> {
    const found: FoundEnd = { isTold: false, events: [] };
    try {
      const [run] = await this.#options.engine.findRuns([place.runId]);
      found.events = endOf(run);
      found.isTold = (await this.#isToldInTime(place)) || (await this.#append(place, run, found.events));
    } catch (error) {
      this.#options.logger.warn('the end of a run could not be told', { runId: place.runId, error });
    }
    return found;
  }

  async #isToldInTime({ threadId, runId }: Place): Promise<boolean> {
    const { streams, patienceMs = PATIENCE_MS } = this.#options;
    if ((await streams.toldOf(threadId, runId)).hasEnd) return true;
    await pause(patienceMs, undefined, { ref: false });
    return (await streams.toldOf(threadId, runId)).hasEnd;
  }

  /** False when nobody may append to the thread: it is not kept, or gone. */
  async #append({ threadId, runId }: Place, run: RunRecord | undefined, events: TellingEvent[]): Promise<boolean> {
    const { engine, streams } = this.#options;
    const currentEpoch = (thread: string) => engine.currentEpoch(thread);
    const epoch = await currentEpoch(threadId);
    if (epoch === undefined) {
      await streams.expire(threadId, runId);
      return false;
    }
    // A run that was cancelled before it began has emitted nothing.
    const hasEmitted = run?.attempt !== 0;
    const { newestId } = await streams.toldOf(threadId, runId);
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

/** As whoever ended it would have told it; one that was rolled back or deleted is not there any more. */
function endOf(run: RunRecord | undefined): TellingEvent[] {
  const status = run?.status ?? 'interrupted';
  const end = { kind: CONTROL_KINDS.end, event: 'end', data: JSON.stringify({ status }) };
  return run?.error ? [{ kind: 'error', event: 'error', data: JSON.stringify(run.error) }, end] : [end];
}
