import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from '@runyard/database';
import { NO_SCOPE } from '@runyard/encryption';
import {
  type AppendEndOptions,
  type AppendEvent,
  appendEnd,
  BEFORE_ALL,
  CONTROL_KINDS,
  gapAfter,
  StaleEpochError,
  StreamUnavailableError,
} from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';
import type { WorkerMetrics } from '../worker-metrics.ts';
import type { StreamedAttempt } from './run-events.ts';

export interface EndRetriesOptions extends AppendEndOptions {
  metrics: Pick<WorkerMetrics, 'lostEvents'>;
  logger: Logger;
  /** Milliseconds between two tries. Default half a second. */
  retryMs?: number;
  /** The most that waits, in characters of data. Default 16 Mi. */
  maxSize?: number;
}

interface PendingEnd {
  run: StreamedAttempt;
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
const GIVE_UP_AFTER_MS = 120_000;
/** A stop tries Redis once more, and waits no longer than so many milliseconds. */
const CLOSE_MS = 3_000;

/**
 * Keeps the last events of runs that have ended in Postgres and whose streams did not take them, and sends them again
 * until Redis is back. Nothing else would bring them, as a run appends nothing after its end. An end that is given up
 * here is published by agent-api, behind a gap.
 */
export class EndRetries {
  readonly #options: EndRetriesOptions;
  readonly #closing = new AbortController();
  #waiting: PendingEnd[] = [];
  #size = 0;
  #publishing: Promise<void> | undefined;

  constructor(options: EndRetriesOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#waiting.length;
  }

  /** Returns whether another try may succeed. */
  static mayRetry(error: unknown): boolean {
    return error instanceof StreamUnavailableError || error instanceof StaleEpochError || isUnavailable(error);
  }

  /** Returns false when there is no room for it. */
  add(run: StreamedAttempt, events: AppendEvent[]): boolean {
    const room = (this.#options.maxSize ?? MAX_SIZE) - this.#size;
    const kept = sizeOf(events) <= room ? events : dropGraphEvents(events);
    const size = sizeOf(kept);
    if (size > room || this.#closing.signal.aborted) return false;
    this.#options.metrics.lostEvents.inc(events.filter((event) => !kept.includes(event)).length);
    this.#size += size;
    this.#waiting.push({ run, events: kept, size, giveUpAt: performance.now() + GIVE_UP_AFTER_MS });
    this.#publishing ??= this.#publishAll();
    return true;
  }

  /** Tries once more, within seconds. */
  async close(): Promise<void> {
    this.#closing.abort();
    const lastTry = async () => {
      await this.#publishing;
      await this.#round();
    };
    await Promise.race([lastTry(), pause(CLOSE_MS, undefined, { ref: false })]);
    for (const end of this.#waiting.splice(0)) this.#giveUp(end, new Error('the worker stops'));
  }

  async #publishAll(): Promise<void> {
    const { retryMs = RETRY_MS } = this.#options;
    const { signal } = this.#closing;
    while (this.#waiting.length > 0 && !signal.aborted) {
      await pause(retryMs, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await this.#round();
    }
    this.#publishing = undefined;
  }

  /** Tries each once, unless the first one shows that it is no use. */
  async #round(): Promise<void> {
    const [first, ...rest] = this.#waiting.splice(0);
    if (!first) return;
    const isBack = await this.#publish(first);
    if (isBack) await Promise.all(rest.map((end) => this.#publish(end)));
    else this.#waiting.unshift(...rest);
  }

  /** Returns false when the end has to wait on: then it is put last. */
  async #publish(end: PendingEnd): Promise<boolean> {
    try {
      await (end.run.inScope ?? NO_SCOPE)(() => appendEnd(this.#options, end.run, end.events));
      this.#size -= end.size;
      return true;
    } catch (error) {
      if (EndRetries.mayRetry(error) && performance.now() < end.giveUpAt) {
        this.#waiting.push(end);
        return false;
      }
      this.#giveUp(end, error);
      return true;
    }
  }

  #giveUp({ run, events, size }: PendingEnd, error: unknown): void {
    this.#size -= size;
    this.#options.metrics.lostEvents.inc(events.length);
    const { runId } = run;
    this.#options.logger.warn('run events lost', { runId, events: events.length, error });
  }
}

/** Drops what the graph emitted before the end and puts a gap in its place. */
function dropGraphEvents(events: AppendEvent[]): AppendEvent[] {
  const end = events.filter(({ kind }) => kind === 'error' || kind === CONTROL_KINDS.end);
  const [first] = end;
  if (!first || end.length === events.length) return events;
  return [{ runId: first.runId, attempt: first.attempt, ...gapAfter(BEFORE_ALL, 'lost') }, ...end];
}

function sizeOf(events: AppendEvent[]): number {
  return events.reduce((sum, { data }) => sum + data.length, 0);
}
