import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Lease } from '@runyard/leases';
import { type Logger, type Metrics, WakeableTimer } from '@runyard/service-kit';
import type pg from 'pg';
import type { EventBus } from '../event-bus.ts';
import { createOutboxInstruments, type OutboxInstruments, reportOutboxMetrics } from './outbox-metrics.ts';
import { LONGEST_PAUSE_MS, TopicPublisher } from './topic-publisher.ts';
import { readUnpublishedRows } from './unpublished-rows.ts';

export interface OutboxRelayOptions {
  pool: pg.Pool;
  bus: EventBus;
  /** Topics of this outbox, by the names that its rows have; rows of others stay. */
  topics: readonly string[];
  logger: Logger;
  metrics?: Metrics;
  /** The id of this process among the relays (uuid). Default: a new one. */
  leaseOwner?: string;
  /** Number of rows of a topic that are read and published at once. Default 500. */
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
/** Milliseconds within which several wakes share one round, so that a busy database is not queried once per commit. */
const ROUND_MS = 20;

/**
 * Publishes a database's outbox. Every process of the database may run one; a lease row chooses which is active.
 *
 * It takes the lowest ids of each topic, publishes, then deletes. It has no cursor, because an id that was assigned
 * early may be committed late, and would be skipped. A crash between publishing and deleting publishes again with the
 * same event ids. While the bus is unavailable it retries with growing pauses, and publishes the backlog once it is
 * back; the backlog is in Postgres, a batch of each topic in memory. Topics are read in one query and published beside
 * each other, so one that the bus refuses, or is slow to confirm, delays no other.
 *
 * A relay that stalls past its lease and resumes repeats at most its batches in flight, one of each topic. Each had been
 * published in order by then, so a reader that skips known ids sees every key in order.
 */
export class OutboxRelay {
  readonly #options: Required<Omit<OutboxRelayOptions, 'metrics'>>;
  readonly #lease: Lease;
  readonly #instruments: OutboxInstruments | undefined;
  readonly #timer = new WakeableTimer();
  readonly #topics: TopicPublisher[];
  #running: Promise<void> | undefined;
  #isStopping = false;
  /** False when another process had the lease at the last look. */
  #isActive = true;
  /** Number of looks in a row that found an empty outbox. */
  #emptyLooks = 0;

  constructor({ metrics, ...options }: OutboxRelayOptions) {
    this.#options = { leaseOwner: randomUUID(), batchSize: 500, idleMs: 1_000, leaseMs: 10_000, ...options };
    const { pool, leaseOwner: owner, leaseMs } = this.#options;
    const lease = new Lease(pool, { name: LEASE, owner, leaseMs });
    const instruments = metrics && createOutboxInstruments(metrics);
    const onChange = () => this.#timer.wake();
    this.#lease = lease;
    this.#instruments = instruments;
    this.#topics = options.topics.map(
      (topic) => new TopicPublisher(topic, { ...this.#options, lease, instruments, onChange }),
    );
    if (metrics) reportOutboxMetrics(metrics, pool);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Wakes the relay after a commit of rows. It is cheap, and must be called after every such commit. */
  wake(): void {
    for (const topic of this.#topics) topic.wake();
    // While the bus is unavailable, or another process has the lease, a wake changes nothing.
    if (this.#isActive && this.#topics.some(({ isReady }) => isReady)) this.#timer.wake();
  }

  /** Publishes the present rows and ends; rows that cannot be published stay for the next relay. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const topic of this.#topics) {
      topic.endPause();
      topic.wake();
    }
    this.#timer.wake();
    await this.#running;
    await this.#lease.release().catch(() => undefined);
  }

  async #run(): Promise<void> {
    for (;;) {
      const startedAt = performance.now();
      await this.#look();
      this.#instruments?.active.set(this.#isActive ? 1 : 0);
      if (this.#isStopping) {
        await Promise.all(this.#topics.map((topic) => topic.settle()));
        if (this.#isActive && this.#topics.some(({ hasMore }) => hasMore)) continue;
        return;
      }
      await this.#timer.wait(this.#pauseMs());
      const restOfRound = ROUND_MS - (performance.now() - startedAt);
      if (restOfRound > 0 && !this.#isStopping) await pause(restOfRound);
    }
  }

  /** Begins to publish the lowest rows of all topics that neither have a batch in flight nor pause after a failure. */
  async #look(): Promise<void> {
    const ready = this.#topics.filter(({ isReady }) => isReady);
    if (ready.length === 0) return;
    const { pool, batchSize } = this.#options;
    try {
      this.#isActive = await this.#lease.isMine();
      if (!this.#isActive) return;
      const batches = await readUnpublishedRows(
        pool,
        ready.map(({ storedName }) => storedName),
        batchSize,
      );
      this.#emptyLooks = batches.size === 0 ? this.#emptyLooks + 1 : 0;
      for (const topic of ready) topic.publish(batches.get(topic.storedName) ?? { rows: [], hasMore: false });
    } catch (error) {
      for (const topic of ready) topic.fail(error);
    }
  }

  /** Returns the milliseconds until the next look that no wake asks for. */
  #pauseMs(): number {
    const { idleMs, leaseMs } = this.#options;
    if (!this.#isActive) return leaseMs / 3;
    // Rows of other processes come without a wake; those of a deployment that nobody uses do not come.
    const idle = Math.min(idleMs * 2 ** Math.max(0, this.#emptyLooks - 1), Math.max(idleMs, LONGEST_PAUSE_MS));
    return Math.min(...this.#topics.map(({ retryInMs }) => retryInMs ?? idle));
  }
}
