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
  /** Milliseconds between two tries. Default half a second. */
  retryMs?: number;
  /** The most that waits, in characters of data. Default 16 Mi. */
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
/**
 * Streams remember a published end for longer than this: one that was published without an answer is not published
 * twice.
 */
const PATIENCE_MS = 120_000;
/** A stop tries Redis once more, and waits no longer than so many milliseconds. */
const CLOSE_MS = 3_000;

/**
 * Keeps the last events of runs that have ended in Postgres and whose streams did not take them, and sends them again
 * until Redis is back. Nothing else would bring them, as a run appends nothing after its end. An end that is given up
 * here is published by agent-api, behind a gap.
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

  /** Returns whether another try may succeed. */
  static isLate(error: unknown): boolean {
    return error instanceof StreamUnavailableError || error instanceof StaleEpochError || isUnavailable(error);
  }

  /** Returns false when there is no room for it. */
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

  /** Tries each once, unless the first one shows that it is no use. */
  async #round(): Promise<void> {
    const [first, ...rest] = this.#waiting.splice(0);
    if (!first) return;
    const isBack = await this.#tell(first);
    if (isBack) await Promise.all(rest.map((end) => this.#tell(end)));
    else this.#waiting.unshift(...rest);
  }

  /** Returns false when the end has to wait on: then it is put last. */
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

/** Drops what the graph emitted before the end and puts a gap in its place. */
function endAlone(events: AppendEvent[]): AppendEvent[] {
  const end = events.filter(({ kind }) => kind === 'error' || kind === CONTROL_KINDS.end);
  const [first] = end;
  if (!first || end.length === events.length) return events;
  return [{ runId: first.runId, attempt: first.attempt, ...gapAfter(BEFORE_ALL, 'lost') }, ...end];
}

function sizeOf(events: AppendEvent[]): number {
  return events.reduce((sum, { data }) => sum + data.length, 0);
}
