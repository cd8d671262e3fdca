import { NO_SCOPE } from '@runyard/encryption';
import { streamPosition } from '@runyard/host-protocol';
import { type AppendEvent, appendEnd, StaleEpochError } from '@runyard/run-stream';
import type { WorkerMetrics } from '../worker-metrics.ts';
import { EndRetries, type EndRetriesOptions } from './end-retries.ts';
import { LostEventsCheck, type LostEventsCheckOptions } from './lost-events-check.ts';
import { lostEventsGap, metadataEvent, type StreamedAttempt } from './run-events.ts';

/** Unsent bytes above which the graph is held back. */
const UNSENT_BYTES_MAX = 512 * 1024;

export type EventPublisherOptions = EndRetriesOptions & LostEventsCheckOptions & { metrics: WorkerMetrics };

/**
 * Publishes the events of all runs of the worker: one round for all of them at a time, and the next one starts when it
 * has returned, with everything that came meanwhile. A lone event leaves at once, many share round trips.
 */
export class EventPublisher {
  readonly #options: EventPublisherOptions;
  readonly #waiting = new Set<RunPublisher>();
  readonly #endRetries: EndRetries;
  readonly #lostEvents: LostEventsCheck;
  /** Later attempts whose stream is not open yet. */
  readonly #opening = new Set<Promise<void>>();
  #sending: Promise<void> | undefined;

  constructor(options: EventPublisherOptions) {
    this.#options = options;
    this.#endRetries = new EndRetries(options);
    this.#lostEvents = new LostEventsCheck(options);
  }

  /**
   * Opens the stream of an attempt with its `metadata` event, and a gap when events of an earlier attempt are missing.
   * `onStale` is called when another attempt publishes already.
   */
  open(run: StreamedAttempt, onStale: () => void): RunPublisher {
    const publisher = new RunPublisher(run, onStale, (ready) => this.#send(ready));
    if (run.attempt === 1) {
      publisher.begin([metadataEvent(run)]);
      return publisher;
    }
    const opening = this.#lostEvents.findLoss(run).then((isLoss) => {
      publisher.begin([metadataEvent(run), ...(isLoss ? [lostEventsGap(run)] : [])]);
      this.#opening.delete(opening);
    });
    this.#opening.add(opening);
    return publisher;
  }

  /**
   * Called when runs emit nothing more: resolves when what they have emitted is sent, or Redis had its last chance to
   * take it.
   */
  async close(): Promise<void> {
    await Promise.all(this.#opening);
    await this.#sending;
    await this.#endRetries.close();
  }

  #send(publisher: RunPublisher): void {
    this.#waiting.add(publisher);
    this.#sending ??= this.#sendRounds();
  }

  async #sendRounds(): Promise<void> {
    // Events that other runs emit in the same turn go along.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.size > 0) {
      const round = [...this.#waiting];
      this.#waiting.clear();
      await Promise.all(round.map((publisher) => this.#publish(publisher)));
    }
    this.#sending = undefined;
  }

  async #publish(publisher: RunPublisher): Promise<void> {
    const { events, position, isLast } = publisher.takeUnsent();
    if (events.length === 0) return publisher.markSent(undefined);
    const startedAt = performance.now();
    try {
      const { run } = publisher;
      const [firstId] = await (run.inScope ?? NO_SCOPE)(() =>
        isLast
          ? appendEnd(this.#options, run, events)
          : this.#options.streams.append(run.fence, events, { resumable: run.isResumable, position }),
      );
      this.#options.metrics.publishLatency.observe(performance.now() - startedAt);
      publisher.markSent(firstId);
    } catch (error) {
      publisher.markSent(undefined);
      if (isLast && EndRetries.mayRetry(error) && this.#endRetries.add(publisher.run, events)) {
        const { runId } = publisher.run;
        this.#options.logger.warn('run end not published, will retry', { runId, error });
        return;
      }
      if (error instanceof StaleEpochError) {
        this.#options.metrics.staleWrite('event', events.length);
        return publisher.onStale();
      }
      // Streams are delivery, not truth: the run continues, and the stream marks the gap.
      this.#options.metrics.lostEvents.inc(events.length);
      const { runId } = publisher.run;
      this.#options.logger.warn('run events lost', { runId, events: events.length, error });
    }
  }
}

/** Sends the events of one attempt to its stream, in order. */
export class RunPublisher {
  readonly run: StreamedAttempt;
  readonly onStale: () => void;
  readonly #onReady: (publisher: RunPublisher) => void;
  #events: AppendEvent[] = [];
  #bytes = 0;
  #hasBegun = false;
  /** Events of the graph that were added. */
  #graphEvents = 0;
  #hasEnded = false;
  #firstEventId: string | undefined;
  /** Resolve those who wait for the events not yet sent, and for those in flight. */
  #waiters: (() => void)[] = [];
  #waitersInFlight: (() => void)[] = [];

  constructor(run: StreamedAttempt, onStale: () => void, onReady: (publisher: RunPublisher) => void) {
    this.run = run;
    this.onStale = onStale;
    this.#onReady = onReady;
  }

  /** The id of the attempt's first event; undefined until it has arrived. */
  get firstEventId(): string | undefined {
    return this.#firstEventId;
  }

  /** Sends these before everything that was added, and from now on what is added. */
  begin(events: AppendEvent[]): void {
    this.#events.unshift(...events);
    this.#hasBegun = true;
    this.#onReady(this);
  }

  /** Adds what is left of so many `emitted` events of the graph: their number is the position of the attempt. */
  addGraphEvents(events: AppendEvent[], emitted: number): void | Promise<void> {
    this.#graphEvents += emitted;
    return this.add(events);
  }

  /** Resolves at once unless too much is unsent. Events after the end are ignored. */
  add(events: AppendEvent[]): void | Promise<void> {
    if (this.#hasEnded) return;
    for (const event of events) {
      this.#events.push(event);
      this.#bytes += event.data.length;
    }
    if (this.#hasBegun) this.#onReady(this);
    if (this.#bytes > UNSENT_BYTES_MAX) return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /**
   * Adds the run's last events: its stream begins to expire. Resolves when they were sent once, with or without
   * success.
   */
  end(events: AppendEvent[]): Promise<void> {
    const sent = new Promise<void>((resolve) => this.#waiters.push(resolve));
    void this.add(events);
    this.#hasEnded = true;
    return sent;
  }

  /** Resolves when everything that was added has been sent once, with or without success. */
  async flush(): Promise<void> {
    if (!this.#hasBegun) return;
    const sent = new Promise<void>((resolve) => this.#waiters.push(resolve));
    this.#onReady(this);
    await sent;
  }

  /** Returns what is unsent, with the attempt's position behind it. */
  takeUnsent(): { events: AppendEvent[]; position: number; isLast: boolean } {
    const events = this.#events;
    this.#events = [];
    this.#bytes = 0;
    this.#waitersInFlight = this.#waiters;
    this.#waiters = [];
    return { events, position: streamPosition(this.run.attempt, this.#graphEvents), isLast: this.#hasEnded };
  }

  markSent(firstId: string | undefined): void {
    this.#firstEventId ??= firstId;
    for (const release of this.#waitersInFlight.splice(0)) release();
  }
}
