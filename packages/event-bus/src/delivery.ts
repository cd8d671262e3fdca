import { setTimeout as pause } from 'node:timers/promises';
import type { CloudEvent, TopicName } from '@runyard/contracts';
import type { Logger, Metrics } from '@runyard/service-kit';
import type { BusContext, SubscribeOptions } from './event-bus.ts';
import { readEvent } from './events.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;
/** Number of ids remembered per subscription: redeliveries come soon after the first delivery. */
const REMEMBERED_IDS = 10_000;

/**
 * Handles a received message for both adapters: validates it, skips what was delivered before, and calls the handler
 * until it succeeds. The adapter advances the position when `deliver` returns.
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

  /**
   * Returns when the message is settled: its effect is done, or it was skipped. Throws when the signal ends the
   * retries.
   */
  async deliver(topic: TopicName, text: string, signal: AbortSignal): Promise<void> {
    const event = readEvent(topic, text);
    if (typeof event === 'string') {
      this.#logger.warn('invalid event skipped', { topic, reason: event, text: text.slice(0, 200) });
      this.#instruments?.skipped.inc({ topic, reason: event });
      return;
    }
    if (this.#delivered.has(event.id)) return;
    await this.#callUntilDone(event, topic, signal);
    this.#delivered.add(event.id);
    if (this.#delivered.size > REMEMBERED_IDS) this.#delivered.delete(this.#delivered.values().next().value!);
    this.#instruments?.delivered.inc({ topic });
  }

  async #callUntilDone(event: CloudEvent, topic: TopicName, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      try {
        return await this.#options.onEvent(event, topic);
      } catch (error) {
        const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS);
        const fields = { topic, type: event.type, id: event.id, attempt, retryInMs: pauseMs, error };
        this.#logger.error('event handler failed, will retry', fields);
        this.#instruments?.retries.inc({ topic });
        await pause(pauseMs, undefined, { signal });
      }
    }
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
