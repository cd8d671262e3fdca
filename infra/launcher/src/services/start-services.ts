import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, keptSecret, type Servers, type Supervisor } from '@runyard/local-infra';
import { PlatformClient } from '../platform-client.ts';
import type { Progress } from '../progress.ts';
import { createDatabases } from './databases.ts';
import { type ServiceProcess, startService } from './service-process.ts';

export interface StartServicesOptions {
  repository: string;
  dataDir: string;
  /** The gateway's; 0 takes a free one. */
  port: number;
  supervisor: Supervisor;
  servers: Servers;
  progress: Progress;
}

export interface Services {
  /** The gateway, which is all that clients see. */
  url: string;
  orgAccess: PlatformClient;
  /** Rejects when a service ends though nobody stopped it. */
  firstEnd: Promise<never>;
  stop(): Promise<void>;
}

/** Asked of the deployments' workers at stop: what is not done by then is handed back and goes on at the next start. */
const graceSeconds = 5;

/** Starts org-access, control-plane and gateway, each as its own process from its bundle. */
export async function startServices(options: StartServicesOptions): Promise<Services> {
  const { dataDir, servers, supervisor, repository } = options;
  await mkdir(join(dataDir, 'secrets'), { recursive: true, mode: 0o700 });
  await mkdir(join(dataDir, 'logs'), { recursive: true });
  const secret = (name: string) => keptSecret(join(dataDir, 'secrets', name));
  // Own servers hold this platform alone; on those the user named, others may live beside it.
  const prefix = `runyard_${servers.postgres.origin === 'environment' ? `${(await secret('installation')).slice(0, 8)}_` : ''}`;
  const databases = await createDatabases({
    adminUrl: servers.postgres.adminUrl,
    dataDir,
    prefix,
    names: ['org-access', 'control-plane'],
  });
  const [orgAccessPort, controlPlanePort] = [await freePort(), await freePort()];
  const gatewayPort = options.port || (await freePort());
  const urls = {
    orgAccess: `http://127.0.0.1:${orgAccessPort}`,
    controlPlane: `http://127.0.0.1:${controlPlanePort}`,
    gateway: `http://127.0.0.1:${gatewayPort}`,
  };
  const internalToken = await secret('internal-token');
  const common = { supervisor, repository, logDir: join(dataDir, 'logs') };
  const entry = (service: string) => join(repository, 'services', service, 'dist/main.js');
  const bus = eventBusOf(servers);

  const starting: Promise<ServiceProcess>[] = [
    startService({
      ...common,
      name: 'org-access',
      stopMs: 3_000,
      port: orgAccessPort,
      env: bus.env,
      secrets: {
        ...bus.secrets,
        DATABASE_URI: databases['org-access'],
        INTERNAL_TOKEN: internalToken,
        ENCRYPTION_KEY: await secret('org-access.encryption-key'),
      },
    }),
    startService({
      ...common,
      name: 'control-plane',
      stopMs: (graceSeconds + 4) * 1_000,
      port: controlPlanePort,
      env: {
        ...bus.env,
        ORG_ACCESS_URL: urls.orgAccess,
        PUBLIC_URL: urls.gateway,
        DATA_DIR: join(dataDir, 'deployments'),
        AGENT_API_COMMAND: entry('agent-api'),
        RUN_WORKER_COMMAND: entry('run-worker'),
        LOCAL_PROJECTS: 'true',
        BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: String(graceSeconds),
      },
      secrets: {
        ...bus.secrets,
        DATABASE_URI: databases['control-plane'],
        DATA_POSTGRES_URI: servers.postgres.adminUrl,
        DATA_REDIS_URI: servers.redis.url,
        INTERNAL_TOKEN: internalToken,
        ENCRYPTION_KEY: await secret('control-plane.encryption-key'),
      },
    }),
    startService({
      ...common,
      name: 'gateway',
      stopMs: 3_000,
      port: gatewayPort,
      env: { ...bus.env, ORG_ACCESS_URL: urls.orgAccess, CONTROL_PLANE_URL: urls.controlPlane, DRAIN_SECONDS: '1' },
      secrets: { ...bus.secrets, INTERNAL_TOKEN: internalToken },
    }),
  ];
  const stop = async () => {
    // The edge first, then the deployments with the service that runs them, then what they ask who a caller is.
    for (const name of ['gateway', 'control-plane', 'org-access']) {
      for (const started of await Promise.allSettled(starting)) {
        if (started.status === 'fulfilled' && started.value.name === name) await started.value.stop();
      }
    }
  };
  try {
    const services = await Promise.all(starting);
    options.progress.step(`Services: ${services.map((service) => service.name).join(', ')}`);
    const firstEnd = Promise.race(services.map((service) => service.unexpectedEnd));
    firstEnd.catch(() => {}); // Somebody may look at it late; the rejection waits for them.
    return {
      url: urls.gateway,
      orgAccess: new PlatformClient(urls.orgAccess, { authorization: `Bearer ${internalToken}` }),
      firstEnd,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function eventBusOf({ kafka, redis }: Servers): { env: Record<string, string>; secrets: Record<string, string> } {
  return kafka
    ? { env: { EVENT_BUS: 'kafka', KAFKA_BROKERS: kafka.brokers.join(',') }, secrets: {} }
    : { env: { EVENT_BUS: 'redis' }, secrets: { EVENT_BUS_REDIS_URI: redis.url } };
}
