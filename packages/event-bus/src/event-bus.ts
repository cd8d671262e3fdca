import type { CloudEvent, TopicName } from '@runyard/contracts';
import type { KafkaLogin, KafkaTls, Logger, Metrics } from '@runyard/service-kit';

export interface KeyedEvent {
  /** The ordering key: events of one topic and key are delivered in the order they were published. */
  key: string;
  event: CloudEvent;
}

/** Maximum number of events in one call of `onEvents`. */
export const EVENTS_OF_BATCH = 500;

/** A subscription takes events one by one or in batches, never both. */
export type SubscribeOptions = SubscribedGroup & (EventHandler | BatchHandler);

interface SubscribedGroup {
  topics: TopicName[];
  /**
   * The name of the group. Its subscribers share the work and a remembered position; each event goes to one of them. A
   * group always names the same topics.
   */
  group: string;
  /** The start of a group without a position: later events only, or the oldest stored one. */
  from: 'latest' | 'earliest';
}

interface EventHandler {
  /**
   * Applies an event. Called for one event of a key at a time, in order. The position advances after it returns; when
   * it throws it is called again, after a growing pause, until it succeeds. It is also called again after a crash, so
   * it must tolerate repetition. Repetitions within one process are skipped by the event's id.
   */
  onEvent(event: CloudEvent, topic: TopicName): Promise<void>;
  onEvents?: never;
}

interface BatchHandler {
  /**
   * Applies a batch of events, oldest first per key: at least one, and at most `EVENTS_OF_BATCH`. Events gather for up
   * to half a second, so that one transaction serves many. The position advances after it returns; when it throws it is
   * called again with the same events, after a growing pause, until it succeeds. It is also called again after a crash,
   * perhaps in other batches, so it must tolerate repetition. Repetitions within one process are skipped by the event's
   * id. On Kafka it is called for several partitions concurrently, each with keys of its own.
   *
   * @param source the prefix of the bus that has them, where the subscription reads several
   */
  onEvents(events: CloudEvent[], topic: TopicName, source?: string): Promise<void>;
  onEvent?: never;
}

export interface Subscription {
  /** Accepts no more events, and resolves when those in flight are settled. */
  close(): Promise<void>;
}

/**
 * Maximum duration of a publish in milliseconds. Longer than brokers need, and short enough for the lease of a relay.
 */
export const PUBLISH_WITHIN_MS = 6_000;

/** Carries lifecycle events between services: at least once, in order per key. */
export interface EventBus {
  /**
   * Resolves when the bus has stored the events. Throws `BusUnavailableError` within six seconds when it cannot be
   * reached or does not confirm, and `EventTooLargeError` for events that it never takes.
   */
  publish(topic: TopicName, events: KeyedEvent[]): Promise<void>;
  /**
   * Resolves when events published from then on are certain to be delivered. Retries while the bus is unavailable;
   * rejects only when the bus is closed meanwhile.
   */
  subscribe(options: SubscribeOptions): Promise<Subscription>;
  close(): Promise<void>;
}

export type EventBusConfig = KafkaBusConfig | RedisBusConfig;

export interface KafkaBusConfig {
  kind: 'kafka';
  brokers: string[];
  /** The host to use for brokers whose address, including the one they announce, is a loopback address. */
  loopbackHost?: string;
  /** The login of this process; absent where brokers accept everybody. */
  sasl?: KafkaLogin;
  /** Absent where connections are not encrypted. */
  tls?: KafkaTls;
  /** Name of this process in the broker's log. */
  clientId: string;
  /** Prefix of every topic and group name. */
  topicPrefix: string;
  /**
   * Partitions of topics that the bus creates: the number of consumers of a group that can share the work. Default 3.
   */
  partitions?: number;
  /** Milliseconds for which topics that the bus creates keep events. Default 7 days. */
  retentionMs?: number;
  /**
   * Milliseconds without a heartbeat after which a consumer counts as dead and its work goes to others. Default 10 s.
   */
  sessionTimeoutMs?: number;
}

export interface RedisBusConfig {
  kind: 'redis';
  url: string;
  /**
   * The Redis that has the leases of subscriptions, where this process may write no keys at `url`. Default: `url`.
   */
  leaseUrl?: string;
  /** Prefix of every key. */
  prefix: string;
  /**
   * Returns the prefixes of the buses whose streams subscriptions read at the moment, where each deployment has one of its
   * own. A stream is read from when it exists; one that cannot be read is left out for a while, and the others are read.
   * All have to be on one server. Default: `prefix` alone.
   */
  sources?: () => readonly string[];
  /**
   * Milliseconds for which events are kept, in the memory of Redis. Default an hour: events are hints, and who was away
   * for longer asks their owner.
   */
  retentionMs?: number;
  /** Number of events that a topic keeps at most, about. Default 100,000. */
  maxEvents?: number;
  /**
   * Milliseconds without a heartbeat after which a consumer counts as dead and its work goes to another. Default 10 s.
   */
  sessionTimeoutMs?: number;
}

/** Parts of a service that the bus needs; a `ServiceContext` fits. */
export interface BusContext {
  logger: Logger;
  metrics?: Metrics;
}

/**
 * The bus could not be reached or did not confirm in time. Nobody knows whether the events were stored; publishing
 * again is safe.
 */
export class BusUnavailableError extends Error {
  constructor(cause: unknown) {
    super(`The event bus is not available: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'BusUnavailableError';
  }
}

/** The bus is there, and never takes these events together: they are larger than it accepts. */
export class EventTooLargeError extends Error {
  constructor(cause: unknown) {
    super('The events are larger than the event bus accepts.', { cause });
    this.name = 'EventTooLargeError';
  }
}

export class BusClosedError extends Error {
  constructor() {
    super('The event bus is closed.');
    this.name = 'BusClosedError';
  }
}
