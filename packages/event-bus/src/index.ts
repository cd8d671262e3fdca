/**
 * Lifecycle events between services, as CloudEvents 1.0.
 *
 * - `createEventBus`: publish and subscribe, over Kafka or, where there is no broker, Redis Streams. At least once, in
 * order per key; a consumer takes events one by one or in batches, and its position advances after the effect. Both
 * adapters pass one conformance suite (`conformance.test.ts`).
 * - `makeEvent`: an event of a schema in `@runyard/contracts`, validated.
 * - `insertIntoOutbox` and `OutboxRelay`: events written in the transaction that makes them true, and published after it.
 *
 * A message that is no valid event is logged and skipped.
 */
export { createEventBus } from './create-event-bus.ts';
export {
  BusUnavailableError,
  type EventBus,
  type EventBusConfig,
  EventTooLargeError,
  type KafkaBusConfig,
  type KeyedEvent,
  type Subscription,
} from './event-bus.ts';
export { makeEvent } from './events.ts';
export { insertIntoOutbox } from './outbox/outbox.ts';
export { OutboxRelay } from './outbox/outbox-relay.ts';
