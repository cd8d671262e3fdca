import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { TopicName } from '@runyard/contracts';
import { Lease } from '@runyard/leases';
import { type Logger, type Metrics, WakeableTimer } from '@runyard/service-kit';
import type pg from 'pg';
import { type EventBus, EventTooLargeError, type KeyedEvent } from '../event-bus.ts';
import { findTopic } from '../events.ts';
import { reportOutboxMetrics } from './outbox-metrics.ts';
import { readUnpublishedRows, SET_ASIDE, type UnpublishedRow } from './unpublished-rows.ts';

export interface OutboxRelayOptions {
  pool: pg.Pool;
  bus: EventBus;
  logger: Logger;
  metrics?: Metrics;
  /** The id of this process among the relays (uuid). Default: a new one. */
  leaseOwner?: string;
  /** Number of rows that are read and published at once. Default 500. */
  batchSize?: number;
  /** Milliseconds until the first look at an empty outbox without a wake. Each further pause is twice as long. Default 1 s. */
  idleMs?: number;
  /**
   * Milliseconds for which a dead relay delays the others. Default 10 s; the longest publish must fit into two thirds
   * of it.
   */
  leaseMs?: number;
}

const LEASE = 'outbox-relay';
const LONGEST_PAUSE_MS = 5_000;
/** Milliseconds within which several wakes share one round, so that a busy database is not queried once per commit. */
const ROUND_MS = 20;

type Outcome = 'more' | 'empty' | 'not mine' | 'failed';

/**
 * Publishes a database's outbox. Every process of the database may run one; a lease row chooses which is active.
 *
 * It takes the lowest ids, publishes, then deletes. It has no cursor, because an id that was assigned early may be
 * committed late, and would be skipped. A crash between publishing and deleting publishes again with the same event
 * ids. While the bus is unavailable it retries with growing pauses, and publishes the backlog once it is back; the
 * backlog is in Postgres, a batch of it in memory.
 *
 * A relay that stalls past its lease and resumes repeats at most its batch in flight. That batch had been published in
 * order by then, so a reader that skips known ids sees every key in order.
 */
export class OutboxRelay {
  readonly #options: Required<Omit<OutboxRelayOptions, 'metrics'>>;
  readonly #lease: Lease;
  readonly #instruments: ReturnType<typeof instrumentsOf> | undefined;
  readonly #timer = new WakeableTimer();
  #running: Promise<void> | undefined;
  #isStopping = false;
  #outcome: Outcome = 'empty';
  #failures = 0;
  /** Number of looks in a row that found an empty outbox. */
  #emptyLooks = 0;

  constructor({ metrics, ...options }: OutboxRelayOptions) {
    this.#options = { leaseOwner: randomUUID(), batchSize: 500, idleMs: 1_000, leaseMs: 10_000, ...options };
    const { pool, leaseOwner: owner, leaseMs } = this.#options;
    this.#lease = new Lease(pool, { name: LEASE, owner, leaseMs });
    this.#instruments = metrics && instrumentsOf(metrics);
    if (metrics) reportOutboxMetrics(metrics, pool);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Wakes the relay after a commit of rows. It is cheap, and must be called after every such commit. */
  wake(): void {
    // While the bus is unavailable, or another process has the lease, a wake changes nothing.
    if (this.#outcome === 'empty' || this.#outcome === 'more') this.#timer.wake();
  }

  /** Publishes the present rows and ends; rows that cannot be published stay for the next relay. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#timer.wake();
    await this.#running;
    await this.#lease.release().catch(() => undefined);
  }

  async #run(): Promise<void> {
    for (;;) {
      const startedAt = performance.now();
      this.#outcome = await this.#relayOnce();
      this.#instruments?.active.set(this.#outcome === 'not mine' ? 0 : 1);
      if (this.#outcome === 'more') continue;
      if (this.#isStopping) return;
      await this.#timer.wait(this.#pauseAfter(this.#outcome));
      const restOfRound = ROUND_MS - (performance.now() - startedAt);
      if (restOfRound > 0 && !this.#isStopping) await pause(restOfRound);
    }
  }

  /** Returns `more` when there is probably more to publish at once. */
  async #relayOnce(): Promise<Outcome> {
    try {
      if (!(await this.#lease.isMine())) return this.#settled('not mine');
      const { rows, hasMore } = await readUnpublishedRows(this.#options.pool, this.#options.batchSize);
      if (rows.length === 0) {
        this.#emptyLooks += 1;
        return this.#settled('empty');
      }
      this.#emptyLooks = 0;
      const failure = await this.#publish(rows);
      if (failure) throw failure;
      return this.#settled(hasMore ? 'more' : 'empty');
    } catch (error) {
      this.#failures += 1;
      // One failure is normal while a part restarts; later ones are logged at growing intervals.
      const level = this.#failures === 1 ? 'debug' : 'warn';
      this.#options.logger[level]('publishing the outbox failed, will retry', { failures: this.#failures, error });
      this.#instruments?.failures.inc();
      return 'failed';
    }
  }

  #settled(result: Outcome): Outcome {
    this.#failures = 0;
    return result;
  }

  #pauseAfter(result: Outcome): number {
    const { idleMs, leaseMs } = this.#options;
    // Rows of other processes come without a wake; those of a deployment that nobody uses do not come.
    if (result === 'empty')
      return Math.min(idleMs * 2 ** Math.max(0, this.#emptyLooks - 1), Math.max(idleMs, LONGEST_PAUSE_MS));
    if (result === 'not mine') return leaseMs / 3;
    return Math.min(250 * 2 ** Math.min(this.#failures, 10), LONGEST_PAUSE_MS);
  }

  /** Publishes topic by topic, so that a failing topic does not delay the others; returns the first failure. */
  async #publish(rows: UnpublishedRow[]): Promise<unknown> {
    const byTopic = new Map<TopicName, UnpublishedRow[]>();
    for (const row of rows) {
      const topic = findTopic(row.topic)!;
      byTopic.set(topic, [...(byTopic.get(topic) ?? []), row]);
    }
    let failure: unknown;
    for (const [topic, ofTopic] of byTopic) {
      try {
        await this.#publishTogether(topic, ofTopic);
      } catch (error) {
        failure ??= error;
      }
    }
    return failure;
  }

  /** Publishes rows of a topic; in smaller and smaller parts where they are too large, and without those that always are. */
  async #publishTogether(topic: TopicName, rows: UnpublishedRow[]): Promise<void> {
    // The rows before may have taken long: another relay may have published all of this by now.
    if (!(await this.#lease.isMine())) return;
    const { bus, pool } = this.#options;
    try {
      await bus.publish(
        topic,
        rows.map(({ key, event }): KeyedEvent => ({ key, event })),
      );
    } catch (error) {
      if (!(error instanceof EventTooLargeError)) throw error;
      if (rows.length === 1) return this.#setAside(topic, rows[0]!, error);
      const middle = Math.ceil(rows.length / 2);
      await this.#publishTogether(topic, rows.slice(0, middle));
      return this.#publishTogether(topic, rows.slice(middle));
    }
    await pool.query({
      name: 'outbox_delete',
      // It does not wait for the disk: rows that a crash of the server brings back are published again.
      text: `DELETE FROM outbox USING (SELECT set_config('synchronous_commit', 'off', true)) AS lax
             WHERE id = ANY($1::bigint[])`,
      values: [rows.map(({ id }) => id)],
    });
    this.#instruments?.published.inc({ topic }, rows.length);
  }

  /** Keeps a row for the operator under a topic that no relay reads. Otherwise it would hold up all that come after it. */
  async #setAside(topic: TopicName, { id, event }: UnpublishedRow, error: EventTooLargeError): Promise<void> {
    await this.#options.pool.query({
      name: 'outbox_set_aside',
      text: 'UPDATE outbox SET topic = topic || $2 WHERE id = $1',
      values: [id, SET_ASIDE],
    });
    this.#options.logger.error('an event is too large for the event bus, set aside', {
      topic,
      eventId: event.id,
      error,
    });
    this.#instruments?.setAside.inc({ topic });
  }
}

function instrumentsOf(metrics: Metrics) {
  return {
    published: metrics.counter('outbox_published_total', 'Events published from the outbox.', ['topic']),
    failures: metrics.counter('outbox_failures_total', 'Attempts to publish the outbox that failed.'),
    setAside: metrics.counter('outbox_set_aside_total', 'Events that are too large for the bus, left in the outbox.', [
      'topic',
    ]),
    active: metrics.gauge(
      'outbox_relay_active',
      'Whether the relay of this process has the lease: 1 in one process per database.',
    ),
  };
}
