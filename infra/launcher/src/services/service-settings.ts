import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  freePort,
  kafkaLoginVariables,
  kafkaTlsVariables,
  readOrCreateSecret,
  type Servers,
  type StartedServer,
} from '@runyard/local-infra';
import { inheritedTracingVariables } from '@runyard/tracing/variables';
import { createDatabases } from './databases.ts';
import { selectPassedVariables } from './passed-variables.ts';
import { sharesProcesses } from './processes.ts';
import type { ProjectUserSettings } from './project-users.ts';

/** The settings of one service. */
export interface ServiceSettings {
  name:
    | 'org-access'
    | 'control-plane'
    | 'data-plane'
    | 'builder'
    | 'registry'
    | 'oauth-broker'
    | 'run-history'
    | 'console'
    | 'gateway';
  port: number;
  env: Record<string, string>;
  /** Settings that must not be in an environment. */
  secrets: Record<string, string>;
  /** See `ProcessSettings`. */
  stopMs: number;
}

/**
 * The grace of the deployments' workers when everything stops: runs that have not ended by then are handed back and
 * continue at the next start.
 */
const stopSeconds = 5;

/** The grace of those that an edit replaces: runs that have not ended by then continue on the edited code. */
const replacedSeconds = { drain: 180, resume: 0 } as const;

/** The fate of runs in flight when their code is edited. */
export type ReloadMode = keyof typeof replacedSeconds;

/** Services listen there unless their `HOST` says otherwise. */
const LOOPBACK = '127.0.0.1';

/** Browsers and curl resolve the names below it to this machine, without any setup. */
const deploymentsDomain = 'localhost';

/** Whatever the gateway listens on, browsers resolve this name to their own machine. */
const consoleHost = `console.${deploymentsDomain}`;

/** Returns the settings of all services, and creates their databases and secrets where they do not exist. */
export async function createServiceSettings(options: {
  repository: string;
  dataDir: string;
  servers: Servers;
  /** The name or address of the gateway. */
  host: string;
  /** Its port; 0 takes a free one. */
  port: number;
  /** The file that tells it what stands at its root. */
  rootFile: string;
  /** Origins whose pages may call there without a key, besides local ones. */
  origins: string[];
  reload: ReloadMode;
  /** True when deployments log each of their runs. */
  logRuns: boolean;
  /** The environment in which the platform is started. */
  environment: NodeJS.ProcessEnv;
  projectUsers: ProjectUserSettings | null;
}): Promise<{ settings: ServiceSettings[]; internalToken: string }> {
  const { dataDir, servers } = options;
  await mkdir(join(dataDir, 'secrets'), { recursive: true, mode: 0o700 });
  const secret = (name: string) => readOrCreateSecret(join(dataDir, 'secrets', name));
  // Servers of our own have this platform alone; on those the user named, others may be beside it.
  const installation = (await secret('installation')).slice(0, 8);
  const apart = (server: StartedServer, name: string) => (server.origin === 'environment' ? name : '');
  const databases = await createDatabases({
    adminUrl: servers.postgres.adminUrl,
    dataDir,
    prefix: `runyard_${apart(servers.postgres, `${installation}_`)}`,
    names: ['org-access', 'control-plane', 'registry', 'oauth-broker', 'run-history'],
  });
  const ports = {
    orgAccess: await freePort(),
    controlPlane: await freePort(),
    dataPlane: await freePort(),
    builder: await freePort(),
    registry: await freePort(),
    oauthBroker: await freePort(),
    runHistory: await freePort(),
    console: await freePort(),
    gateway: options.port || (await freePort(options.host)),
  };
  const orgAccessUrl = `http://127.0.0.1:${ports.orgAccess}`;
  const controlPlaneUrl = `http://127.0.0.1:${ports.controlPlane}`;
  const registryUrl = `http://127.0.0.1:${ports.registry}`;
  const gatewayUrl = localUrl(options.host, ports.gateway);
  const consoleUrl = `http://${consoleHost}:${ports.gateway}`;
  // control-plane's, which has its sources in the same object storage.
  const deploymentsDir = join(dataDir, 'deployments');
  const internalToken = await secret('internal-token');
  const dataPlaneKey = await secret('data-plane-key');
  const bus = eventBusSettings(servers, apart(servers.kafka ?? servers.redis, `${installation}.`));
  const traces = inheritedTracingVariables(options.environment);
  const shared = {
    env: { ...bus.env, ...traces.env, PUBLIC_URL: gatewayUrl },
    secrets: { ...bus.secrets, ...traces.secrets, INTERNAL_TOKEN: internalToken },
  };
  // The user of our own Redis reaches the queue of this name alone.
  const queue = { BUILD_QUEUE_PREFIX: `runyard${apart(servers.redis, `-${installation}`)}` };
  const bundle = (service: string) => join(options.repository, 'services', service, 'dist/main.js');

  const orgAccess: ServiceSettings = {
    name: 'org-access',
    port: ports.orgAccess,
    stopMs: 3_000,
    env: {
      ...shared.env,
      CONTROL_PLANE_URL: controlPlaneUrl,
      CONSOLE_URL: consoleUrl,
      DRAIN_WINDOW_SECONDS: '1',
      ...selectPassedVariables('org-access', options.environment),
    },
    secrets: {
      ...shared.secrets,
      DATABASE_URI: databases['org-access'],
      ENCRYPTION_KEY: await secret('org-access.encryption-key'),
    },
  };
  const controlPlane: ServiceSettings = {
    name: 'control-plane',
    port: ports.controlPlane,
    stopMs: 3_000,
    env: {
      ...shared.env,
      ORG_ACCESS_URL: orgAccessUrl,
      REGISTRY_SERVICE_URL: registryUrl,
      DEPLOYMENTS_DOMAIN: deploymentsDomain,
      DATA_DIR: deploymentsDir,
      LOCAL_PROJECTS: 'true',
      ...queue,
      DRAIN_WINDOW_SECONDS: '1',
      ...selectPassedVariables('control-plane', options.environment),
    },
    secrets: {
      ...shared.secrets,
      DATABASE_URI: databases['control-plane'],
      REDIS_URI: servers.redis.url,
      DATA_PLANE_KEY: dataPlaneKey,
      ENCRYPTION_KEY: await secret('control-plane.encryption-key'),
    },
  };
  const dataPlane: ServiceSettings = {
    name: 'data-plane',
    port: ports.dataPlane,
    stopMs: (stopSeconds + 4) * 1_000,
    // The service that runs projects gets nothing that opens another one, nor the platform's user of the brokers.
    env: {
      ...shared.env,
      CONTROL_PLANE_URL: controlPlaneUrl,
      PLATFORM_JWKS_URL: `${orgAccessUrl}/.well-known/jwks.json`,
      DATA_DIR: join(dataDir, 'data-plane'),
      AGENT_API_COMMAND: bundle('agent-api'),
      RUN_WORKER_COMMAND: bundle('run-worker'),
      ...(sharesProcesses(options.environment) && {
        AGENT_SERVICES_COMMAND: join(options.repository, 'infra/agent-services/dist/main.js'),
        // It loads while the services start, which have one core for themselves.
        AGENT_SERVICES_STANDBY: 'true',
      }),
      ...options.projectUsers,
      BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: String(replacedSeconds[options.reload]),
      STOP_GRACE_SECONDS: String(stopSeconds),
      LOG_RUNS: String(options.logRuns),
      DRAIN_WINDOW_SECONDS: '1',
      ...selectPassedVariables('data-plane', options.environment),
    },
    secrets: {
      ...traces.secrets,
      ...kafkaLoginVariables(servers.kafka?.logins?.deployments, 'DEPLOYMENT_'),
      DATA_POSTGRES_URI: servers.postgres.adminUrl,
      DATA_REDIS_URI: servers.redis.url,
      DATA_PLANE_KEY: dataPlaneKey,
      ENCRYPTION_KEY: await secret('data-plane.encryption-key'),
    },
  };
  const builder: ServiceSettings = {
    name: 'builder',
    port: ports.builder,
    stopMs: 12_000,
    // It runs code of strangers, and gets nothing that opens another service.
    env: {
      ...traces.env,
      ...queue,
      CONTROL_PLANE_URL: controlPlaneUrl,
      REGISTRY_SERVICE_URL: registryUrl,
      DATA_DIR: join(dataDir, 'builder'),
      BUILDER_IDLE_SECONDS: '120',
      ...options.projectUsers,
      ...selectPassedVariables('builder', options.environment),
    },
    secrets: { ...traces.secrets, REDIS_URI: servers.redis.buildsUrl },
  };
  const registry: ServiceSettings = {
    name: 'registry',
    port: ports.registry,
    stopMs: 3_000,
    env: {
      PUBLIC_URL: shared.env.PUBLIC_URL,
      ...traces.env,
      CONTROL_PLANE_URL: controlPlaneUrl,
      DATA_DIR: deploymentsDir,
      DRAIN_WINDOW_SECONDS: '1',
    },
    secrets: { ...traces.secrets, INTERNAL_TOKEN: internalToken, DATABASE_URI: databases.registry },
  };
  const oauthBroker: ServiceSettings = {
    name: 'oauth-broker',
    port: ports.oauthBroker,
    stopMs: 3_000,
    env: {
      ...shared.env,
      ORG_ACCESS_URL: orgAccessUrl,
      CONTROL_PLANE_URL: controlPlaneUrl,
      DRAIN_WINDOW_SECONDS: '1',
      ...selectPassedVariables('oauth-broker', options.environment),
    },
    secrets: {
      ...shared.secrets,
      DATABASE_URI: databases['oauth-broker'],
      REDIS_URI: servers.redis.url,
      ENCRYPTION_KEY: await secret('oauth-broker.encryption-key'),
    },
  };
  const runHistory: ServiceSettings = {
    name: 'run-history',
    port: ports.runHistory,
    stopMs: 3_000,
    env: {
      ...bus.env,
      ...traces.env,
      ORG_ACCESS_URL: orgAccessUrl,
      CONTROL_PLANE_URL: controlPlaneUrl,
      DRAIN_WINDOW_SECONDS: '1',
      ...selectPassedVariables('run-history', options.environment),
    },
    secrets: {
      ...shared.secrets,
      DATABASE_URI: databases['run-history'],
      DEPLOYMENTS_REDIS_URI: servers.redis.historyUrl,
    },
  };
  const consoleService: ServiceSettings = {
    name: 'console',
    port: ports.console,
    stopMs: 3_000,
    env: {
      ...traces.env,
      PUBLIC_URL: shared.env.PUBLIC_URL,
      CONSOLE_URL: consoleUrl,
      GATEWAY_URL: gatewayUrl,
      ORG_ACCESS_URL: orgAccessUrl,
      // Nobody but the gateway asks it, which stops at the same time.
      DRAIN_WINDOW_SECONDS: '0',
    },
    secrets: { ...traces.secrets, INTERNAL_TOKEN: internalToken },
  };
  const gateway: ServiceSettings = {
    name: 'gateway',
    port: ports.gateway,
    stopMs: 3_000,
    env: {
      ...shared.env,
      ORG_ACCESS_URL: orgAccessUrl,
      CONTROL_PLANE_URL: controlPlaneUrl,
      OAUTH_BROKER_URL: `http://127.0.0.1:${ports.oauthBroker}`,
      RUN_HISTORY_URL: `http://127.0.0.1:${ports.runHistory}`,
      REGISTRY_SERVICE_URL: registryUrl,
      CONSOLE_SERVICE_URL: `http://127.0.0.1:${ports.console}`,
      CONSOLE_URL: consoleUrl,
      DEPLOYMENTS_DOMAIN: deploymentsDomain,
      HOST: options.host,
      ROOT_FILE: options.rootFile,
      ...(options.origins.length > 0 && { ROOT_ORIGINS: options.origins.join(',') }),
      ...options.projectUsers,
      DRAIN_SECONDS: '1',
      // There is no other gateway to go to, neither at a stop nor while the machine is busy.
      DRAIN_WINDOW_SECONDS: '0',
      HTTP_MAX_ARRIVAL_DELAY_SECONDS: '0',
      ...selectPassedVariables('gateway', options.environment),
      REDIS_KEY_PREFIX: `runyard${apart(servers.redis, `-${installation}`)}`,
    },
    secrets: { ...shared.secrets, REDIS_URI: servers.redis.url },
  };
  const settings = [
    orgAccess,
    controlPlane,
    dataPlane,
    builder,
    registry,
    oauthBroker,
    runHistory,
    consoleService,
    gateway,
  ];
  return { settings, internalToken };
}

/** Returns the URL at which this machine reaches a service. */
export function urlOf({ env, port }: Pick<ServiceSettings, 'env' | 'port'>): string {
  return localUrl(env.HOST ?? LOOPBACK, port);
}

/** @param host may stand for all addresses of the machine */
function localUrl(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://${LOOPBACK}:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function eventBusSettings({ kafka, redis }: Servers, topicPrefix: string): Pick<ServiceSettings, 'env' | 'secrets'> {
  if (!kafka)
    return { env: { EVENT_BUS: 'redis', TOPIC_PREFIX: topicPrefix }, secrets: { EVENT_BUS_REDIS_URI: redis.url } };
  const { brokers, logins, tls } = kafka;
  return {
    env: {
      EVENT_BUS: 'kafka',
      KAFKA_BROKERS: brokers.join(','),
      TOPIC_PREFIX: topicPrefix,
      ...(logins && { KAFKA_SASL_MECHANISM: logins.platform.mechanism }),
      ...kafkaTlsVariables(tls),
    },
    secrets: kafkaLoginVariables(logins?.platform),
  };
}
