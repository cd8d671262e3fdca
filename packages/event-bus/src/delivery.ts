import { setTimeout as pause } from 'node:timers/promises';
import type { CloudEvent, TopicName } from '@runyard/contracts';
import type { Logger, Metrics } from '@runyard/service-kit';
import { type BusContext, EVENTS_OF_BATCH, type SubscribeOptions } from './event-bus.ts';
import { readEvent } from './events.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;
/** Number of ids remembered per subscription: redeliveries come soon after the first delivery. */
const REMEMBERED_IDS = 10_000;

/** The topic of messages, and the prefix of their bus where a subscription reads several. */
export interface Origin {
  topic: TopicName;
  source?: string | undefined;
}

/**
 * Handles received messages for both adapters: validates them, skips what was delivered before, and calls the handler
 * until it succeeds. The adapter advances the position when `deliver` returns. A handler of single events takes batches
 * of one.
 */
export class Delivery {
  readonly #options: SubscribeOptions;
  readonly #logger: Logger;
  readonly #instruments: ReturnType<typeof instrumentsOf> | undefined;
  /** Ids of delivered events, oldest first. */
  readonly #delivered = new Set<string>();

  constructor(options: SubscribeOptions, context: BusContext) {
    this.#options = options;
    this.#logger = context.logger.child({ group: options.group });
    this.#instruments = context.metrics && instrumentsOf(context.metrics);
  }

  /** Divides received messages into batches, each for one `deliver`. */
  *batchesOf<T>(messages: readonly T[]): Generator<T[]> {
    const size = this.#options.onEvents ? EVENTS_OF_BATCH : 1;
    for (let start = 0; start < messages.length; start += size) yield messages.slice(start, start + size);
  }

  /**
   * Returns when the batch is settled: the effect of each message is done, or it was skipped. Throws when the signal
   * ends the retries.
   */
  async deliver({ topic, source }: Origin, texts: readonly string[], signal: AbortSignal): Promise<void> {
    const events = this.#readNew(topic, texts);
    if (events.length === 0) return;
    await this.#callUntilDone(events, { topic, source }, signal);
    for (const { id } of events) {
      this.#delivered.add(id);
      if (this.#delivered.size > REMEMBERED_IDS) this.#delivered.delete(this.#delivered.values().next().value!);
    }
    this.#instruments?.delivered.inc({ topic }, events.length);
  }

  /** Returns the valid events that were not delivered before, each id once. */
  #readNew(topic: TopicName, texts: readonly string[]): CloudEvent[] {
    const events = new Map<string, CloudEvent>();
    for (const text of texts) {
      const event = readEvent(topic, text);
      if (typeof event === 'string') {
        this.#logger.warn('invalid event skipped', { topic, reason: event, text: text.slice(0, 200) });
        this.#instruments?.skipped.inc({ topic, reason: event });
      } else if (!this.#delivered.has(event.id)) events.set(event.id, event);
    }
    return [...events.values()];
  }

  async #callUntilDone(events: CloudEvent[], origin: Origin, signal: AbortSignal): Promise<void> {
    const { topic } = origin;
    const { type, id } = events[0]!;
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      try {
        return await this.#call(events, origin);
      } catch (error) {
        const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS);
        // The first event names the batch, because the handler alone knows which one it failed on.
        const fields = { topic, type, id, events: events.length, attempt, retryInMs: pauseMs, error };
        this.#logger.error('event handler failed, will retry', fields);
        this.#instruments?.retries.inc({ topic });
        await pause(pauseMs, undefined, { signal });
      }
    }
  }

  async #call(events: CloudEvent[], { topic, source }: Origin): Promise<void> {
    if (this.#options.onEvents) return this.#options.onEvents(events, topic, source);
    for (const event of events) await this.#options.onEvent(event, topic);
  }
}

function instrumentsOf(metrics: Metrics) {
  return {
    delivered: metrics.counter('event_bus_delivered_total', 'Events handled.', ['topic']),
    skipped: metrics.counter('event_bus_skipped_total', 'Received messages that are no valid event.', [
      'topic',
      'reason',
    ]),
    retries: metrics.counter('event_bus_retries_total', 'Failed attempts to handle an event.', ['topic']),
  };
}
