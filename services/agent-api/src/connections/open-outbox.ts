import { createEventBus, OutboxRelay } from '@runyard/event-bus';
import { type ServiceContext, toEventBusConfig } from '@runyard/service-kit';
import type pg from 'pg';
import type { Config } from '../config.ts';

/** Starts publishing the outbox of the deployment. */
export function openOutbox(config: Config, context: ServiceContext, pool: pg.Pool): OutboxRelay {
  const { logger, metrics, lifecycle } = context;
  // The Redis of the deployment is the bus where no other is named.
  const variables = { ...config, EVENT_BUS_REDIS_URI: config.EVENT_BUS_REDIS_URI ?? config.REDIS_URI };
  const bus = createEventBus(toEventBusConfig(variables, `runyard-agent-api-${config.DEPLOYMENT_ID}`), context);
  lifecycle.onStop('event bus', () => bus.close());
  const relay = new OutboxRelay({ pool, bus, topics: ['runs'], logger, metrics });
  relay.start();
  lifecycle.onStop('outbox relay', () => relay.stop());
  return relay;
}
