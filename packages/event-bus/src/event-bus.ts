import type { CloudEvent, TopicName } from '@runyard/contracts';
import type { Logger, Metrics } from '@runyard/service-kit';

export interface KeyedEvent {
  /** Events of one topic and key are delivered in the order they were published. */
  key: string;
  event: CloudEvent;
}

export interface SubscribeOptions {
  topics: TopicName[];
  /**
   * Subscribers of one group share the work and a remembered position; each event goes to one of them. A group always names the
   * same topics.
   */
  group: string;
  /** Where a group without a position begins: at what is published from now on, or at the oldest event kept. */
  from: 'latest' | 'earliest';
  /**
   * The effect of an event. Called for one event of a key at a time, in order. The position moves on after it returns; if it
   * throws it is called again, after a growing pause, until it does not. Called again also after a crash, so an effect must
   * tolerate a repetition; repetitions within one process are left out by the event's id.
   */
  onEvent(event: CloudEvent, topic: TopicName): Promise<void>;
}

export interface Subscription {
  /** Takes no more events and resolves when the one in hand is settled. */
  close(): Promise<void>;
}

/** What publishing takes at most. Longer than brokers need, and short enough to fit into the lease of a relay. */
export const PUBLISH_WITHIN_MS = 6_000;

/** Lifecycle events between services: at least once, in order per key. */
export interface EventBus {
  /**
   * Resolves when the bus has them for good. Throws `BusUnavailableError` within six seconds when it cannot be reached or does
   * not confirm.
   */
  publish(topic: TopicName, events: KeyedEvent[]): Promise<void>;
  /**
   * Resolves when events published from then on are certain to be delivered. While the bus is away it goes on trying; it
   * rejects only when the bus is closed meanwhile.
   */
  subscribe(options: SubscribeOptions): Promise<Subscription>;
  close(): Promise<void>;
}

export type EventBusConfig = KafkaBusConfig | RedisBusConfig;

export interface KafkaBusConfig {
  kind: 'kafka';
  brokers: string[];
  /** Where brokers are reached whose address, also as they tell it themselves, is one of the loopback interface. */
  loopbackHost?: string;
  /** Names this process in the broker's log. */
  clientId: string;
  /** Before every topic and group name. */
  topicPrefix: string;
  /** Partitions of topics made by us: the number of consumers of a group that can share the work. Default 3. */
  partitions?: number;
  /** How long topics made by us keep events. Default 7 days. */
  retentionMs?: number;
  /** A consumer not heard of for this long is taken for dead and its work given to others. Default 10 s. */
  sessionTimeoutMs?: number;
}

export interface RedisBusConfig {
  kind: 'redis';
  url: string;
  /** Before every key. */
  prefix: string;
  /** How long events are kept. Default 7 days. */
  retentionMs?: number;
  /** A consumer not heard of for this long is taken for dead and its work given to another. Default 10 s. */
  sessionTimeoutMs?: number;
}

/** What a service hands in; a `ServiceContext` fits. */
export interface BusContext {
  logger: Logger;
  metrics?: Metrics;
}

/** The bus could not be reached or did not confirm in time. Whether the events are there is unknown; publishing again is safe. */
export class BusUnavailableError extends Error {
  constructor(cause: unknown) {
    super(`The event bus is not available: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'BusUnavailableError';
  }
}

export class BusClosedError extends Error {
  constructor() {
    super('The event bus is closed.');
    this.name = 'BusClosedError';
  }
}
