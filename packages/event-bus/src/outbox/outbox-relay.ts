import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { TopicName } from '@runyard/contracts';
import { Duty } from '@runyard/database';
import type { Logger, Metrics } from '@runyard/service-kit';
import type pg from 'pg';
import type { EventBus, KeyedEvent } from '../event-bus.ts';
import { topicOf } from '../events.ts';
import { lowestRows, type UnpublishedRow } from './lowest-rows.ts';
import { reportOutbox } from './outbox-metrics.ts';
import { WakeableTimer } from './wakeable-timer.ts';

export interface OutboxRelayOptions {
  pool: pg.Pool;
  bus: EventBus;
  logger: Logger;
  metrics?: Metrics;
  /** This process among those that may relay (uuid). Default: a new one. */
  holder?: string;
  /** Rows read and published at once. Default 500. */
  batchSize?: number;
  /** How often an empty outbox is looked at when nobody kicks. Default 1 s. */
  idleMs?: number;
  /** How long a dead relay keeps the others waiting. Default 10 s; what a bus may take to publish must fit into two thirds. */
  leaseMs?: number;
}

const DUTY = 'outbox-relay';
const LONGEST_PAUSE_MS = 5_000;
/** Kicks closer together than this share one round, so that a busy database is not asked once per commit. */
const ROUND_MS = 20;

type Outcome = 'more' | 'empty' | 'not mine' | 'failed';

/**
 * Publishes a database's outbox. Every process of the database may run one; a lease row chooses which is active.
 *
 * It takes the lowest ids, publishes, then deletes. There is no cursor: an id taken early may be committed late, and would be
 * passed over. A crash between publishing and deleting publishes again with the same event ids. While the bus is away it tries
 * with growing pauses and drains what has piled up once it is back; what waits is in Postgres, a batch of it in memory.
 *
 * A relay that stands still past its lease and wakes publishes at most the batch it had in hand once more. That batch had been
 * published in order by then, so who leaves out ids he has had sees no key out of order.
 */
export class OutboxRelay {
  readonly #options: Required<Omit<OutboxRelayOptions, 'metrics'>>;
  readonly #duty: Duty;
  readonly #instruments: ReturnType<typeof instrumentsOf> | undefined;
  readonly #timer = new WakeableTimer();
  #running: Promise<void> | undefined;
  #isStopping = false;
  #outcome: Outcome = 'empty';
  #failures = 0;

  constructor({ metrics, ...options }: OutboxRelayOptions) {
    this.#options = { holder: randomUUID(), batchSize: 500, idleMs: 1_000, leaseMs: 10_000, ...options };
    const { pool, holder, leaseMs } = this.#options;
    this.#duty = new Duty(pool, { name: DUTY, holder, leaseMs });
    this.#instruments = metrics && instrumentsOf(metrics);
    if (metrics) reportOutbox(metrics, pool);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Rows were committed: look at once. Cheap, to be called after every such commit. */
  kick(): void {
    // While the bus is away, or another process has the duty, a kick changes nothing.
    if (this.#outcome === 'empty' || this.#outcome === 'more') this.#timer.wake();
  }

  /** Publishes what is there and ends; what cannot be published stays for the next relay. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#timer.wake();
    await this.#running;
    await this.#duty.release().catch(() => undefined);
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

  /** `more` when there is likely more to publish at once. */
  async #relayOnce(): Promise<Outcome> {
    try {
      if (!(await this.#duty.isMine())) return this.#settled('not mine');
      const { rows, hasMore } = await lowestRows(this.#options.pool, this.#options.batchSize);
      if (rows.length === 0) return this.#settled('empty');
      const failure = await this.#publish(rows);
      if (failure) throw failure;
      return this.#settled(hasMore ? 'more' : 'empty');
    } catch (error) {
      this.#failures += 1;
      // Once is normal while something restarts; from then on it is said at growing intervals.
      const level = this.#failures === 1 ? 'debug' : 'warn';
      this.#options.logger[level]('the outbox cannot be published, trying again', { failures: this.#failures, error });
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
    if (result === 'empty') return idleMs;
    if (result === 'not mine') return leaseMs / 3;
    return Math.min(250 * 2 ** Math.min(this.#failures, 10), LONGEST_PAUSE_MS);
  }

  /** Publishes topic by topic, so that one topic's trouble does not hold up the others; answers the first failure. */
  async #publish(rows: UnpublishedRow[]): Promise<unknown> {
    const byTopic = new Map<TopicName, UnpublishedRow[]>();
    for (const row of rows) {
      const topic = topicOf(row.topic)!;
      byTopic.set(topic, [...(byTopic.get(topic) ?? []), row]);
    }
    let failure: unknown;
    for (const [topic, ofTopic] of byTopic) {
      // The topic before may have taken long: another relay may have published all of this by now.
      if (!(await this.#duty.isMine())) return failure;
      try {
        await this.#options.bus.publish(
          topic,
          ofTopic.map(({ key, event }): KeyedEvent => ({ key, event })),
        );
        await this.#options.pool.query({
          name: 'outbox_delete',
          text: 'DELETE FROM outbox WHERE id = ANY($1::bigint[])',
          values: [ofTopic.map(({ id }) => id)],
        });
        this.#instruments?.published.inc({ topic }, ofTopic.length);
      } catch (error) {
        failure ??= error;
      }
    }
    return failure;
  }
}

function instrumentsOf(metrics: Metrics) {
  return {
    published: metrics.counter('outbox_published_total', 'Events published from the outbox.', ['topic']),
    failures: metrics.counter('outbox_failures_total', 'Attempts to publish the outbox that failed.'),
    active: metrics.gauge(
      'outbox_relay_active',
      'Whether the relay of this process has the duty: 1 in one process per database.',
    ),
  };
}
