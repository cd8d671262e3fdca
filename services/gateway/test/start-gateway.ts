import type { EventBusConfig } from '@runyard/event-bus';
import { createContext, kafkaLoginVariables, readConfig } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { FakeControlPlane, FakeOrgAccess, INTERNAL_TOKEN, startFakeOAuthBroker } from '@runyard/test-kit/fake-platform';
import type { Tracing } from '@runyard/tracing';
import { configSchema } from '../src/config.ts';
import { run } from '../src/run.ts';

export interface TestGateway {
  url: string;
  orgAccess: FakeOrgAccess;
  controlPlane: FakeControlPlane;
  /** Resolves when the routes are loaded. */
  untilReady(): Promise<void>;
  /** Resolves when the gateway misses no more events. */
  untilSubscribed(): Promise<void>;
  /** Resolves when the gateway has applied the current routes of control-plane. */
  refreshRoutes(): Promise<void>;
  /** Stops the gateway and leaves the rest of the platform running. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** An address where nothing listens: the gateway has to work without the bus. */
const NO_BUS = { EVENT_BUS: 'redis', EVENT_BUS_REDIS_URI: 'redis://127.0.0.1:1' };

/** Starts a whole gateway in this process, with fakes for the services behind it. */
export async function startGateway(
  options: {
    orgAccess?: FakeOrgAccess;
    controlPlane?: FakeControlPlane;
    bus?: EventBusConfig;
    env?: Record<string, string>;
    tracing?: Tracing;
  } = {},
): Promise<TestGateway> {
  const orgAccess = options.orgAccess ?? (await FakeOrgAccess.start());
  const controlPlane = options.controlPlane ?? (await FakeControlPlane.start());
  const oauthBroker = await startFakeOAuthBroker();
  const config = readConfig(configSchema, {
    environment: {
      ORG_ACCESS_URL: orgAccess.url,
      CONTROL_PLANE_URL: controlPlane.url,
      OAUTH_BROKER_URL: oauthBroker.url,
      // The fake answers to every path.
      REGISTRY_SERVICE_URL: controlPlane.url,
      INTERNAL_TOKEN,
      DRAIN_SECONDS: '1',
      ...busVariables(options.bus),
      ...options.env,
    },
  });
  const { HTTP_MAX_REQUESTS_IN_FLIGHT, HTTP_MAX_BODY_BYTES_IN_FLIGHT } = config;
  const { tracing } = options;
  const context = createContext('gateway', {
    LOG_LEVEL: 'silent',
    processMetrics: false,
    HTTP_MAX_REQUESTS_IN_FLIGHT,
    HTTP_MAX_BODY_BYTES_IN_FLIGHT,
    ...(tracing && { tracing }),
  });
  const { url, feed, subscribed } = await run(config, context);
  const stop = () => context.lifecycle.stop('the test is over');
  return {
    url,
    orgAccess,
    controlPlane,
    async untilReady() {
      await waitFor(async () => (await fetch(`${url}/ok?check_db=1`)).ok);
    },
    untilSubscribed: () => subscribed,
    refreshRoutes: () => feed.refreshNow(),
    stop,
    async close() {
      await stop();
      await Promise.all([orgAccess.close(), controlPlane.close(), oauthBroker.close()]);
    },
  };
}

function busVariables(bus: EventBusConfig | undefined): Record<string, string> {
  if (!bus) return NO_BUS;
  if (bus.kind === 'redis') return { EVENT_BUS: 'redis', EVENT_BUS_REDIS_URI: bus.url, TOPIC_PREFIX: bus.prefix };
  return {
    EVENT_BUS: 'kafka',
    KAFKA_BROKERS: bus.brokers.join(','),
    TOPIC_PREFIX: bus.topicPrefix,
    ...kafkaLoginVariables(bus.sasl),
  };
}
