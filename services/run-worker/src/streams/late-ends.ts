import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from '@runyard/database';
import {
  type AppendEvent,
  appendEnd,
  BEFORE_ALL,
  CONTROL_KINDS,
  type EndAppending,
  gapAfter,
  StaleEpochError,
  StreamUnavailableError,
} from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';
import type { WorkerMetrics } from '../worker-metrics.ts';
import type { StreamedRun } from './run-events.ts';

export interface LateEndsOptions extends EndAppending {
  metrics: Pick<WorkerMetrics, 'lostEvents'>;
  logger: Logger;
  /** Pause between two tries. Default half a second. */
  retryMs?: number;
  /** What waits at most, in characters of data. Default 16 Mi. */
  maxSize?: number;
}

interface LateEnd {
  run: StreamedRun;
  events: AppendEvent[];
  size: number;
  /** Monotonic milliseconds. */
  giveUpAt: number;
}

const RETRY_MS = 500;
const MAX_SIZE = 16 * 1024 * 1024;
/** Streams know for longer than this that an end was told: one that was, and not heard of, is not told twice. */
const PATIENCE_MS = 120_000;
/** At a stop Redis is asked once more, and not waited for longer. */
const CLOSE_MS = 3_000;

/**
 * The last events of runs that are over in Postgres and whose streams did not take them: they are sent again until Redis is back.
 * Nothing else would bring them, as a run appends nothing after its end. What is given up in the end is told by agent-api, as a gap
 * and the end.
 */
export class LateEnds {
  readonly #options: LateEndsOptions;
  readonly #closing = new AbortController();
  #waiting: LateEnd[] = [];
  #size = 0;
  #telling: Promise<void> | undefined;

  constructor(options: LateEndsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#waiting.length;
  }

  /** Whether another try may go better. */
  static isLate(error: unknown): boolean {
    return error instanceof StreamUnavailableError || error instanceof StaleEpochError || isUnavailable(error);
  }

  /** False when there is no room for it. */
  add(run: StreamedRun, events: AppendEvent[]): boolean {
    const room = (this.#options.maxSize ?? MAX_SIZE) - this.#size;
    const kept = sizeOf(events) <= room ? events : endAlone(events);
    const size = sizeOf(kept);
    if (size > room || this.#closing.signal.aborted) return false;
    this.#options.metrics.lostEvents.inc(events.filter((event) => !kept.includes(event)).length);
    this.#size += size;
    this.#waiting.push({ run, events: kept, size, giveUpAt: performance.now() + PATIENCE_MS });
    this.#telling ??= this.#tellAll();
    return true;
  }

  /** Tries once more, within seconds. */
  async close(): Promise<void> {
    this.#closing.abort();
    const lastTry = async () => {
      await this.#telling;
      await this.#round();
    };
    await Promise.race([lastTry(), pause(CLOSE_MS, undefined, { ref: false })]);
    for (const end of this.#waiting.splice(0)) this.#giveUp(end, new Error('the worker stops'));
  }

  async #tellAll(): Promise<void> {
    const { retryMs = RETRY_MS } = this.#options;
    const { signal } = this.#closing;
    while (this.#waiting.length > 0 && !signal.aborted) {
      await pause(retryMs, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await this.#round();
    }
    this.#telling = undefined;
  }

  /** One try for each, unless the first shows that there is no use in it. */
  async #round(): Promise<void> {
    const [first, ...rest] = this.#waiting.splice(0);
    if (!first) return;
    const isBack = await this.#tell(first);
    if (isBack) await Promise.all(rest.map((end) => this.#tell(end)));
    else this.#waiting.unshift(...rest);
  }

  /** False when it has to wait on: then it stands last. */
  async #tell(end: LateEnd): Promise<boolean> {
    try {
      await appendEnd(this.#options, end.run, end.events);
      this.#size -= end.size;
      return true;
    } catch (error) {
      if (LateEnds.isLate(error) && performance.now() < end.giveUpAt) {
        this.#waiting.push(end);
        return false;
      }
      this.#giveUp(end, error);
      return true;
    }
  }

  #giveUp({ run, events, size }: LateEnd, error: unknown): void {
    this.#size -= size;
    this.#options.metrics.lostEvents.inc(events.length);
    const { runId } = run;
    this.#options.logger.warn('events of a run could not be published', { runId, events: events.length, error });
  }
}

/** Without what the graph emitted before; that is told as a gap. */
function endAlone(events: AppendEvent[]): AppendEvent[] {
  const end = events.filter(({ kind }) => kind === 'error' || kind === CONTROL_KINDS.end);
  const [first] = end;
  if (!first || end.length === events.length) return events;
  return [{ runId: first.runId, attempt: first.attempt, ...gapAfter(BEFORE_ALL, 'lost') }, ...end];
}

function sizeOf(events: AppendEvent[]): number {
  return events.reduce((sum, { data }) => sum + data.length, 0);
}
