import type { BusContext, EventBus, EventBusConfig } from './event-bus.ts';
import { KafkaBus } from './kafka/kafka-bus.ts';
import { RedisBus } from './redis/redis-bus.ts';

/** Creates the bus of the configured kind. It connects at its first use. */
export function createEventBus(config: EventBusConfig, context: BusContext): EventBus {
  return config.kind === 'kafka' ? new KafkaBus(config, context) : new RedisBus(config, context);
}
