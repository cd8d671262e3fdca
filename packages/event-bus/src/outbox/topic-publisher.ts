import type { TopicName } from '@runyard/contracts';
import type { Lease } from '@runyard/leases';
import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';
import { type EventBus, EventTooLargeError, type KeyedEvent } from '../event-bus.ts';
import { findTopic } from '../events.ts';
import type { OutboxInstruments } from './outbox-metrics.ts';
import { type Batch, SET_ASIDE, type UnpublishedRow } from './unpublished-rows.ts';

export const LONGEST_PAUSE_MS = 5_000;

interface TopicPublisherOptions {
  pool: pg.Pool;
  bus: EventBus;
  logger: Logger;
  lease: Lease;
  instruments: OutboxInstruments | undefined;
  /** Called when the topic has to be looked at again, or has failed and waits for its next attempt. */
  onChange(): void;
}

/** Publishes the rows of one topic of an outbox, one batch at a time, with failures and pauses of its own. */
export class TopicPublisher {
  /** The name of the topic in the rows. */
  readonly storedName: string;
  readonly #topic: TopicName;
  readonly #options: TopicPublisherOptions;
  #publishing: Promise<void> | undefined;
  #hasMore = false;
  #failures = 0;
  /** Monotonic time before which a topic that has failed is not tried again. */
  #retryAt = 0;

  constructor(storedName: string, options: TopicPublisherOptions) {
    const topic = findTopic(storedName);
    if (!topic) throw new TypeError(`No topic of the event bus: ${storedName}`);
    this.storedName = storedName;
    this.#topic = topic;
    this.#options = options;
  }

  /** True when the next batch may be published now. */
  get isReady(): boolean {
    return !this.#publishing && (this.retryInMs ?? 0) === 0;
  }

  /** True when there are probably rows that are not in the batch in flight. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Milliseconds until a topic that has failed is to be tried again, 0 when that time has come; undefined for any other. */
  get retryInMs(): number | undefined {
    if (this.#failures === 0 || this.#publishing) return undefined;
    return Math.max(0, this.#retryAt - performance.now());
  }

  /** Notes that rows were committed, which the batch in flight may lack. */
  wake(): void {
    if (this.#publishing) this.#hasMore = true;
  }

  /** Ends the pause after a failure. */
  endPause(): void {
    this.#retryAt = 0;
  }

  /** Publishes the rows and deletes them. Without any the topic is up to date. */
  publish({ rows, hasMore }: Batch): void {
    this.#hasMore = hasMore;
    if (rows.length === 0) {
      this.#failures = 0;
      return;
    }
    this.#publishing = this.#publishTogether(rows).then(
      () => {
        this.#failures = 0;
        this.#publishing = undefined;
        if (this.#hasMore) this.#options.onChange();
      },
      (error) => {
        this.#publishing = undefined;
        this.fail(error);
        this.#options.onChange();
      },
    );
  }

  /** Pauses the topic, longer after each failure in a row. */
  fail(error: unknown): void {
    const { logger, instruments } = this.#options;
    this.#hasMore = false;
    this.#failures += 1;
    this.#retryAt = performance.now() + Math.min(250 * 2 ** Math.min(this.#failures, 10), LONGEST_PAUSE_MS);
    // One failure is normal while a part restarts; later ones are logged at growing intervals.
    const level = this.#failures === 1 ? 'debug' : 'warn';
    logger[level]('publishing the outbox failed, will retry', {
      topic: this.#topic,
      failures: this.#failures,
      error,
    });
    instruments?.failures.inc();
  }

  /** Resolves when no batch is in flight. */
  async settle(): Promise<void> {
    await this.#publishing;
  }

  /** Publishes rows in smaller and smaller parts where they are too large, and without those that always are. */
  async #publishTogether(rows: UnpublishedRow[]): Promise<void> {
    const { bus, pool, lease, instruments } = this.#options;
    // The part before may have taken long: another relay may have published all of this by now.
    if (!(await lease.isMine())) return;
    try {
      await bus.publish(
        this.#topic,
        rows.map(({ key, event }): KeyedEvent => ({ key, event })),
      );
    } catch (error) {
      if (!(error instanceof EventTooLargeError)) throw error;
      if (rows.length === 1) return this.#setAside(rows[0]!, error);
      const middle = Math.ceil(rows.length / 2);
      await this.#publishTogether(rows.slice(0, middle));
      return this.#publishTogether(rows.slice(middle));
    }
    await pool.query({
      name: 'outbox_delete',
      // It does not wait for the disk: rows that a crash of the server brings back are published again.
      text: `DELETE FROM outbox USING (SELECT set_config('synchronous_commit', 'off', true)) AS lax
             WHERE id = ANY($1::bigint[])`,
      values: [rows.map(({ id }) => id)],
    });
    instruments?.published.inc({ topic: this.#topic }, rows.length);
  }

  /** Keeps a row for the operator under a topic that no relay reads. Otherwise it would hold up all that come after it. */
  async #setAside({ id, event }: UnpublishedRow, error: EventTooLargeError): Promise<void> {
    const { pool, logger, instruments } = this.#options;
    await pool.query({
      name: 'outbox_set_aside',
      text: 'UPDATE outbox SET topic = topic || $2 WHERE id = $1',
      values: [id, SET_ASIDE],
    });
    logger.error('an event is too large for the event bus, set aside', {
      topic: this.#topic,
      eventId: event.id,
      error,
    });
    instruments?.setAside.inc({ topic: this.#topic });
  }
}
