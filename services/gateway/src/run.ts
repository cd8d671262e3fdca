import { randomUUID } from 'node:crypto';
import { RouteSnapshot } from '@runyard/contracts';
import { createEventBus } from '@runyard/event-bus';
import { createApp, listen, type ServiceContext, toEventBusConfig } from '@runyard/service-kit';
import { Agent } from 'undici';
import { Gateway } from './app.ts';
import { KeyCache } from './authentication/key-cache.ts';
import { checkKey } from './authentication/key-check.ts';
import { LocalRequests } from './authentication/local-requests.ts';
import { createMetricsGuard } from './authentication/metrics-guard.ts';
import { OpenExchanges } from './authentication/open-exchanges.ts';
import { BusHints } from './bus-hints.ts';
import type { Config } from './config.ts';
import { withHomePage } from './home-page.ts';
import { InternalClient, parseInternalAnswer } from './internal-client.ts';
import { ArrivalDelay } from './limits/arrival-delay.ts';
import { OpenRuns } from './limits/open-runs.ts';
import { RateLimits } from './limits/rate-limits.ts';
import { RateSharing } from './limits/rate-sharing.ts';
import { UpstreamLoad } from './limits/upstream-load.ts';
import { UnresponsiveUpstreams } from './proxy/unresponsive-upstreams.ts';
import { ClientAddresses } from './requests/client-address.ts';
import { ConsoleHost } from './routing/console-host.ts';
import { DeploymentHosts } from './routing/deployment-hosts.ts';
import { DeploymentTable } from './routing/deployment-table.ts';
import { ProtectedResources } from './routing/protected-resources.ts';
import { RootDeployment } from './routing/root-deployment.ts';
import { RouteFeed } from './routing/route-feed.ts';
import { RoutePlanner } from './routing/route-plan.ts';

/**
 * Milliseconds that an idle connection to an upstream is kept. Well below the window in which a stopping service still
 * takes requests, so that none is sent on a connection that is just being closed.
 */
const UPSTREAM_IDLE_MS = 2_000;

/**
 * The listen backlog. A burst of new connections is accepted one by one, and refused as soon as it is accepted: waiting
 * for that beats a retry after seconds. Systems allow so many.
 */
const BACKLOG = 4096;

/** Connections to org-access and control-plane each, for the gateway's own calls. */
const INTERNAL_CONNECTIONS = 64;

export interface RunningGateway {
  url: string;
  feed: RouteFeed;
  /** Resolves when the bus subscription is active and the routes are at least as new. */
  subscribed: Promise<void>;
}

/** Opens and wires the gateway. Returns when it listens; routes and events arrive later. */
export async function run(config: Config, context: ServiceContext): Promise<RunningGateway> {
  const { lifecycle, logger } = context;

  const dispatcher = new Agent({
    keepAliveTimeout: UPSTREAM_IDLE_MS,
    // Servers allow more; the limit is how long they take requests after their stop began.
    keepAliveMaxTimeout: UPSTREAM_IDLE_MS,
    connect: { timeout: 5_000, keepAlive: true, keepAliveInitialDelay: 10_000 },
    pipelining: 1,
  });
  lifecycle.onStop('upstream connections', () => dispatcher.destroy());
  const unresponsiveUpstreams = new UnresponsiveUpstreams({
    probeAfterMs: config.UPSTREAM_SILENCE_SECONDS * 1000,
    logger,
  });
  unresponsiveUpstreams.start();
  lifecycle.onStop('unresponsive upstreams', () => unresponsiveUpstreams.stop());
  // Many keys that are not known yet wait here for their turn, so that they do not overwhelm org-access.
  const internal = new Agent({
    connections: INTERNAL_CONNECTIONS,
    keepAliveTimeout: UPSTREAM_IDLE_MS,
    keepAliveMaxTimeout: UPSTREAM_IDLE_MS,
    connect: { timeout: 5_000 },
  });
  lifecycle.onStop('internal connections', () => internal.destroy());
  const client = (baseUrl: string) =>
    new InternalClient({ dispatcher: internal, baseUrl, token: config.INTERNAL_TOKEN });
  const orgAccess = client(config.ORG_ACCESS_URL);
  const controlPlane = client(config.CONTROL_PLANE_URL);

  const load = new UpstreamLoad({ maxUnanswered: config.HTTP_MAX_REQUESTS_PER_UPSTREAM });
  const exchanges = new OpenExchanges({ maxPerKey: config.HTTP_MAX_REQUESTS_PER_KEY, logger });
  exchanges.start();
  lifecycle.onStop('open exchanges', () => exchanges.stop());
  const keys = new KeyCache({
    ask: (request) => checkKey(orgAccess, request),
    onRevoked: (keyId) => exchanges.cutKey(keyId),
  });

  const consoleHost = new ConsoleHost({
    serviceUrl: config.CONSOLE_SERVICE_URL,
    url: config.CONSOLE_URL,
    publicUrl: config.PUBLIC_URL,
  });
  const addresses = new ClientAddresses({
    internalToken: config.INTERNAL_TOKEN,
    trustsAll: config.TRUST_FORWARDED_HEADERS,
    proxies: config.TRUSTED_PROXIES,
  });
  const rateLimits = new RateLimits(config, openRateSharing(config, context)?.onTaken);
  const openRuns = new OpenRuns(config);

  const table = new DeploymentTable();
  const hosts = new DeploymentHosts(table, config.DEPLOYMENTS_DOMAIN);
  const root: RootDeployment = new RootDeployment({
    file: config.ROOT_FILE,
    table,
    localRequests: new LocalRequests({
      origins: config.ROOT_ORIGINS ?? [],
      projectUsers: config.PROJECT_USERS,
      isOfOtherDeployment: (host) => hosts.isDeploymentHost(host) && hosts.find(host) !== root.route,
    }),
  });
  const feed = new RouteFeed({
    table,
    fetchSnapshot: async (signal) =>
      parseInternalAnswer(RouteSnapshot, await controlPlane.call('GET', '/internal/routes', undefined, signal)),
    refreshMs: config.ROUTES_REFRESH_SECONDS * 1000,
    logger,
  });
  feed.start();
  lifecycle.onStop('route feed', () => feed.stop());

  const hints = new BusHints({ keys, exchanges, feed });
  lifecycle.onStop('bus hints', () => hints.stop());
  const bus = createEventBus(toEventBusConfig(config, 'runyard-gateway'), context);
  lifecycle.onStop('event bus', () => bus.close());
  // The start does not wait for this: without the bus the gateway works on, and the subscription begins when the bus is
  // there.
  const subscribed = bus
    .subscribe({
      topics: ['deployments', 'organizations'],
      // Each process has caches of its own, so each is a consumer group of its own.
      group: `gateway-${randomUUID()}`,
      from: 'latest',
      onEvent: async (event) => hints.onEvent(event),
    })
    // No event is missed from here on; earlier changes have to be fetched.
    .then(() => feed.refreshNow())
    .catch((error: unknown) => {
      if (!lifecycle.isDraining) logger.error('event bus subscription failed', { error });
    });

  const arrivalDelay = new ArrivalDelay({ maxMs: config.HTTP_MAX_ARRIVAL_DELAY_SECONDS * 1000 });
  const gateway = new Gateway({
    context,
    own: withHomePage(
      createApp({
        context,
        operations: [],
        readiness: {
          async routes() {
            if (!table.isLoaded) throw new Error('no route snapshot from control-plane yet');
          },
        },
        metricsGuard: createMetricsGuard(config.INTERNAL_TOKEN),
      }),
    ),
    consoleHost,
    hosts,
    root,
    planner: new RoutePlanner({
      table,
      hosts,
      root,
      addresses,
      serviceUrls: {
        'org-access': config.ORG_ACCESS_URL,
        'control-plane': config.CONTROL_PLANE_URL,
        'oauth-broker': config.OAUTH_BROKER_URL,
        registry: config.REGISTRY_SERVICE_URL,
        'run-history': config.RUN_HISTORY_URL,
        console: config.CONSOLE_SERVICE_URL,
      },
      load,
      publicUrl: config.PUBLIC_URL,
      onDeadRoute: () => feed.reportDeadRoute(),
      newRoutes: () => feed.awaitSnapshot(),
    }),
    resources: new ProtectedResources({ table, hosts, publicUrl: config.PUBLIC_URL }),
    exchanges,
    dispatcher,
    unresponsiveUpstreams,
    bodyLimitBytes: config.HTTP_MAX_REQUEST_BODY_BYTES,
    strangersBodyMs: config.HTTP_UNKNOWN_CALLER_BODY_SECONDS * 1000,
    keys,
    rateLimits,
    openRuns,
    arrivalDelay,
    addresses,
    internalToken: config.INTERNAL_TOKEN,
  });
  reportSizes(context, { table, keys, exchanges, openRuns });
  const drainMs = config.DRAIN_SECONDS * 1000;
  const { HOST: host, PORT: port } = config;
  const { url, server } = await listen(gateway.onRequest, { host, port, backlog: BACKLOG, context, drainMs });
  server.on('upgrade', (req, socket, head) => gateway.onUpgrade(server, req, socket, head));
  arrivalDelay.observe(server);
  lifecycle.onStop('arrival delay', () => arrivalDelay.stop());
  lifecycle.onStop('upgraded connections', () => gateway.closeUpgraded());
  lifecycle.ready();
  return { url, feed, subscribed };
}

/** Opens the sharing of rate limits; without Redis each replica limits by itself. */
function openRateSharing(config: Config, { lifecycle, logger }: ServiceContext): RateSharing | undefined {
  const { REDIS_URI: redisUri, REDIS_KEY_PREFIX: keyPrefix } = config;
  if (redisUri === undefined) return undefined;
  const sharing = new RateSharing({ redisUri, keyPrefix, logger });
  lifecycle.onStop('rate limits', () => sharing.close());
  return sharing;
}

function reportSizes(
  { metrics }: ServiceContext,
  parts: { table: DeploymentTable; keys: KeyCache; exchanges: OpenExchanges; openRuns: OpenRuns },
): void {
  const { table, keys, exchanges, openRuns } = parts;
  metrics.gauge('runyard_gateway_deployments', 'Deployments the gateway knows.', [], (gauge) => gauge.set(table.size));
  metrics.gauge('runyard_gateway_cached_keys', 'Answers about keys held.', [], (gauge) => gauge.set(keys.size));
  metrics.gauge('runyard_gateway_open_exchanges', 'Requests being served with a key.', [], (gauge) =>
    gauge.set(exchanges.size),
  );
  metrics.gauge('runyard_gateway_open_runs', 'Runs whose requests wait for their end.', [], (gauge) =>
    gauge.set(openRuns.size),
  );
}
