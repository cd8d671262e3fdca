import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Deployment, Revision } from '@runyard/contracts';
import { createTestDatabase, freePort, startServiceProcess, type TestServiceProcess, waitFor } from '@runyard/test-kit';
import type { Bench } from './bench.ts';
import { Ledger } from './ledger.ts';

export const PLATFORM_SERVICES = ['org-access', 'control-plane', 'oauth-broker', 'run-history', 'gateway'] as const;
/** The services that own a database. */
const WITH_DATABASE = ['org-access', 'control-plane', 'oauth-broker', 'run-history'] as const;
/** Releases without these ran deployments in control-plane, and had no journal of runs. */
const LATER_SERVICES: readonly string[] = ['data-plane', 'run-history'];
export type PlatformService = (typeof PLATFORM_SERVICES)[number] | 'data-plane';

/** A platform of services from several checkouts, each of which can replace its equivalent. */
export class MixedPlatform {
  readonly url: string;
  readonly ledger: Ledger;
  headers: Record<string, string> = {};
  deploymentUrl = '';
  readonly #ports: Record<PlatformService, number>;
  readonly #settings: Settings;
  readonly #running = new Map<PlatformService, TestServiceProcess>();

  private constructor(ports: Record<PlatformService, number>, settings: Settings, ledger: Ledger) {
    this.#ports = ports;
    this.#settings = settings;
    this.ledger = ledger;
    this.url = `http://127.0.0.1:${ports.gateway}`;
  }

  /** Starts all services from one checkout, with the probe project deployed. */
  static async start(bench: Bench, checkout: string): Promise<MixedPlatform> {
    const ports = {
      'org-access': await freePort(),
      'control-plane': await freePort(),
      'data-plane': await freePort(),
      'oauth-broker': await freePort(),
      'run-history': await freePort(),
      gateway: await freePort(),
    };
    const databases = {} as Databases;
    for (const service of WITH_DATABASE) {
      const migrations = path.join(checkout, 'services', service, 'prisma/migrations');
      const database = await createTestDatabase(existsSync(migrations) ? migrations : undefined);
      bench.onClose(() => database.close());
      databases[service] = database.url;
    }
    await bench.servers.openKafka.start();
    const dataDir = path.join(bench.folder, 'mixed');
    await mkdir(dataDir);
    const settings = settingsOf(bench, ports, dataDir, databases);
    const platform = new MixedPlatform(ports, settings, new Ledger(path.join(bench.folder, 'mixed.ledger.jsonl')));
    bench.onClose(() => platform.#close());
    for (const service of [...PLATFORM_SERVICES, 'data-plane'] as const) await platform.#start(service, checkout);
    await platform.#deploy(bench.project.folder);
    return platform;
  }

  /**
   * Stops a service and starts its equivalent from another checkout on the same port; with control-plane also the data
   * plane, which is a service of its own since some release. Returns the first exit code that is not 0, else 0.
   */
  async replace(service: (typeof PLATFORM_SERVICES)[number], checkout: string): Promise<number | null> {
    const code = await this.#stop(service);
    await this.#start(service, checkout);
    if (service !== 'control-plane') return code;
    const codeOfDataPlane = await this.#stop('data-plane');
    await this.#start('data-plane', checkout);
    return code || codeOfDataPlane;
  }

  async #stop(service: PlatformService): Promise<number | null> {
    const running = this.#running.get(service);
    this.#running.delete(service);
    return running ? (await running.stop({ graceMs: 30_000 })).code : 0;
  }

  async #start(service: PlatformService, checkout: string): Promise<void> {
    const { env, secrets } = this.#settings[service];
    const entry = path.join(checkout, 'services', service, 'dist/main.js');
    if (LATER_SERVICES.includes(service) && !existsSync(entry)) return;
    const running = await startServiceProcess({
      entry,
      env: {
        ...env,
        PORT: String(this.#ports[service]),
        // A data plane runs deployments of its own release, as the launcher configures it.
        AGENT_API_COMMAND: path.join(checkout, 'services/agent-api/dist/main.js'),
        RUN_WORKER_COMMAND: path.join(checkout, 'services/run-worker/dist/main.js'),
      },
      secrets,
    });
    this.#running.set(service, running);
  }

  async #deploy(projectFolder: string): Promise<void> {
    const bootstrap = await fetch(`http://127.0.0.1:${this.#ports['org-access']}/internal/bootstrap`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#settings.internalToken}`, 'content-type': 'application/json' },
      body: '{}',
    });
    this.headers = { 'x-api-key': ((await bootstrap.json()) as { api_key: string }).api_key };
    const body = {
      name: 'probe',
      source: 'local_directory',
      source_config: { project_path: projectFolder, deployment_type: 'dev' },
      source_revision_config: { langgraph_config_path: 'langgraph.json' },
    };
    const { id, latest_revision_id } = await this.#ask<Deployment>('POST', '/v2/deployments', body);
    this.deploymentUrl = `${this.url}/deployments/${id}`;
    const deployed = async () =>
      (await this.#ask<Revision>('GET', `/v2/deployments/${id}/revisions/${latest_revision_id}`)).status === 'DEPLOYED';
    await waitFor(deployed, { timeoutMs: 60_000, intervalMs: 200, what: 'the deployment' });
  }

  async #ask<T>(method: string, pathname: string, body?: unknown): Promise<T> {
    const response = await fetch(this.url + pathname, {
      method,
      headers: { ...this.headers, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${pathname} was answered with ${response.status}: ${text}`);
    return JSON.parse(text) as T;
  }

  async #close(): Promise<void> {
    for (const service of [...this.#running.values()].reverse()) await service.stop();
  }
}

type Databases = Record<(typeof WITH_DATABASE)[number], string>;

type Settings = Record<PlatformService, { env: Record<string, string>; secrets: Record<string, string> }> & {
  internalToken: string;
};

function settingsOf(
  { servers, project }: Bench,
  ports: Record<PlatformService, number>,
  dataDir: string,
  databases: Databases,
): Settings {
  const secret = () => randomBytes(32).toString('base64');
  const internalToken = randomBytes(32).toString('hex');
  const dataPlaneKey = randomBytes(32).toString('hex');
  const common = {
    ...project.environment,
    EVENT_BUS: 'kafka',
    // The release before this one has no login.
    KAFKA_BROKERS: servers.openKafka.address.brokers.join(','),
    TOPIC_PREFIX: `mixed-${internalToken.slice(0, 8)}.`,
    LOG_JSON: 'true',
  };
  const at = (service: PlatformService) => `http://127.0.0.1:${ports[service]}`;
  return {
    internalToken,
    'org-access': {
      env: common,
      secrets: { INTERNAL_TOKEN: internalToken, DATABASE_URI: databases['org-access'], ENCRYPTION_KEY: secret() },
    },
    'control-plane': {
      env: {
        ...common,
        ORG_ACCESS_URL: at('org-access'),
        PUBLIC_URL: at('gateway'),
        DATA_DIR: dataDir,
        // No deployment of it has images.
        REGISTRY_SERVICE_URL: 'http://127.0.0.1:9',
        LOCAL_PROJECTS: 'true',
        BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '5',
      },
      secrets: {
        INTERNAL_TOKEN: internalToken,
        DATABASE_URI: databases['control-plane'],
        ENCRYPTION_KEY: secret(),
        DATA_PLANE_KEY: dataPlaneKey,
        REDIS_URI: servers.redis.address.url,
        // For releases whose control-plane ran deployments.
        DATA_POSTGRES_URI: servers.postgres.address.adminUrl,
        DATA_REDIS_URI: servers.redis.address.url,
      },
    },
    'data-plane': {
      env: {
        ...common,
        CONTROL_PLANE_URL: at('control-plane'),
        PLATFORM_JWKS_URL: `${at('org-access')}/.well-known/jwks.json`,
        PUBLIC_URL: at('gateway'),
        DATA_DIR: path.join(dataDir, 'data-plane'),
        BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '5',
      },
      secrets: {
        INTERNAL_TOKEN: internalToken,
        ENCRYPTION_KEY: secret(),
        DATA_PLANE_KEY: dataPlaneKey,
        DATA_POSTGRES_URI: servers.postgres.address.adminUrl,
        DATA_REDIS_URI: servers.redis.address.url,
      },
    },
    'oauth-broker': {
      env: {
        ...common,
        ORG_ACCESS_URL: at('org-access'),
        CONTROL_PLANE_URL: at('control-plane'),
        PUBLIC_URL: at('gateway'),
      },
      secrets: {
        INTERNAL_TOKEN: internalToken,
        DATABASE_URI: databases['oauth-broker'],
        ENCRYPTION_KEY: secret(),
        REDIS_URI: servers.redis.address.url,
      },
    },
    'run-history': {
      env: { ...common, ORG_ACCESS_URL: at('org-access'), CONTROL_PLANE_URL: at('control-plane') },
      secrets: { INTERNAL_TOKEN: internalToken, DATABASE_URI: databases['run-history'] },
    },
    gateway: {
      env: {
        ...common,
        ORG_ACCESS_URL: at('org-access'),
        CONTROL_PLANE_URL: at('control-plane'),
        OAUTH_BROKER_URL: at('oauth-broker'),
        RUN_HISTORY_URL: at('run-history'),
        DRAIN_SECONDS: '1',
      },
      secrets: { INTERNAL_TOKEN: internalToken },
    },
  };
}
