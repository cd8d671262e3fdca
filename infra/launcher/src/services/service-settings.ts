import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, keptSecret, type Servers, type StartedServer } from '@runyard/local-infra';
import { createDatabases } from './databases.ts';
import { passedOn } from './passed-on.ts';

/** What one service is told. */
export interface ServiceSettings {
  name: 'org-access' | 'control-plane' | 'gateway';
  port: number;
  env: Record<string, string>;
  /** What must not stand in an environment. */
  secrets: Record<string, string>;
  /** How long it may take to stop before it is killed; together with the servers' this stays below 15 s. */
  stopMs: number;
}

/** Asked of the deployments' workers at stop: what is not done by then is handed back and goes on at the next start. */
const graceSeconds = 5;

/** Browsers and curl resolve the names below it to this machine, without anything being set up. */
const deploymentsDomain = 'localhost';

/** The settings of all services, with their databases and secrets made where they are not there yet. */
export async function serviceSettings(options: {
  repository: string;
  dataDir: string;
  servers: Servers;
  /** The gateway's; 0 takes a free one. */
  port: number;
  /** Of whoever starts the platform. */
  environment: NodeJS.ProcessEnv;
}): Promise<{ settings: ServiceSettings[]; internalToken: string }> {
  const { dataDir, servers } = options;
  await mkdir(join(dataDir, 'secrets'), { recursive: true, mode: 0o700 });
  const secret = (name: string) => keptSecret(join(dataDir, 'secrets', name));
  // Servers of our own hold this platform alone; on those the user named, others may live beside it.
  const installation = (await secret('installation')).slice(0, 8);
  const apart = (server: StartedServer, name: string) => (server.origin === 'environment' ? name : '');
  const databases = await createDatabases({
    adminUrl: servers.postgres.adminUrl,
    dataDir,
    prefix: `runyard_${apart(servers.postgres, `${installation}_`)}`,
    names: ['org-access', 'control-plane'],
  });
  const ports = {
    orgAccess: await freePort(),
    controlPlane: await freePort(),
    gateway: options.port || (await freePort()),
  };
  const orgAccessUrl = `http://127.0.0.1:${ports.orgAccess}`;
  const internalToken = await secret('internal-token');
  const bus = eventBus(servers, apart(servers.kafka ?? servers.redis, `${installation}.`));
  const bundle = (service: string) => join(options.repository, 'services', service, 'dist/main.js');

  const orgAccess: ServiceSettings = {
    name: 'org-access',
    port: ports.orgAccess,
    stopMs: 3_000,
    env: { ...bus.env, DRAIN_WINDOW_SECONDS: '1' },
    secrets: {
      ...bus.secrets,
      DATABASE_URI: databases['org-access'],
      INTERNAL_TOKEN: internalToken,
      ENCRYPTION_KEY: await secret('org-access.encryption-key'),
    },
  };
  const controlPlane: ServiceSettings = {
    name: 'control-plane',
    port: ports.controlPlane,
    stopMs: (graceSeconds + 4) * 1_000,
    env: {
      ...bus.env,
      ORG_ACCESS_URL: orgAccessUrl,
      PUBLIC_URL: `http://127.0.0.1:${ports.gateway}`,
      DEPLOYMENTS_DOMAIN: deploymentsDomain,
      DATA_DIR: join(dataDir, 'deployments'),
      AGENT_API_COMMAND: bundle('agent-api'),
      RUN_WORKER_COMMAND: bundle('run-worker'),
      LOCAL_PROJECTS: 'true',
      BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: String(graceSeconds),
      DRAIN_WINDOW_SECONDS: '1',
      ...passedOn(options.environment),
    },
    secrets: {
      ...bus.secrets,
      DATABASE_URI: databases['control-plane'],
      DATA_POSTGRES_URI: servers.postgres.adminUrl,
      DATA_REDIS_URI: servers.redis.url,
      INTERNAL_TOKEN: internalToken,
      ENCRYPTION_KEY: await secret('control-plane.encryption-key'),
    },
  };
  const gateway: ServiceSettings = {
    name: 'gateway',
    port: ports.gateway,
    stopMs: 3_000,
    env: {
      ...bus.env,
      ORG_ACCESS_URL: orgAccessUrl,
      CONTROL_PLANE_URL: `http://127.0.0.1:${ports.controlPlane}`,
      DEPLOYMENTS_DOMAIN: deploymentsDomain,
      DRAIN_SECONDS: '1',
      // There is no other gateway to go to.
      DRAIN_WINDOW_SECONDS: '0',
      REDIS_KEY_PREFIX: `runyard${apart(servers.redis, `-${installation}`)}`,
    },
    secrets: { ...bus.secrets, REDIS_URI: servers.redis.url, INTERNAL_TOKEN: internalToken },
  };
  return { settings: [orgAccess, controlPlane, gateway], internalToken };
}

function eventBus({ kafka, redis }: Servers, topicPrefix: string): Pick<ServiceSettings, 'env' | 'secrets'> {
  return kafka
    ? { env: { EVENT_BUS: 'kafka', KAFKA_BROKERS: kafka.brokers.join(','), TOPIC_PREFIX: topicPrefix }, secrets: {} }
    : { env: { EVENT_BUS: 'redis', TOPIC_PREFIX: topicPrefix }, secrets: { EVENT_BUS_REDIS_URI: redis.url } };
}
