import { randomBytes, randomUUID } from 'node:crypto';
import path from 'node:path';
import { createTestDatabase, FaultLine, type TestDatabase } from '@runyard/test-kit';
import { Ledger } from './ledger.ts';
import { Part, type ServiceName } from './part.ts';
import type { BenchServers } from './servers.ts';

const PROJECT = path.join(import.meta.dirname, '../project');
const SERVICES = [
  'org-access',
  'control-plane',
  'data-plane',
  'builder',
  'registry',
  'oauth-broker',
  'run-history',
  'gateway',
  'agent-api',
  'run-worker',
] as const;

export type ServerName = 'postgres' | 'redis';

/**
 * One process of each service, none of them started, on databases without a table; both servers can be taken away from
 * all of them.
 */
export class WholeDeployment {
  readonly services: ReadonlyMap<ServiceName, Part>;
  readonly ledger: Ledger;
  readonly #databases: TestDatabase[];
  /** The line from the services that publish on the bus to it. */
  readonly #bus: FaultLine;

  private constructor(services: Map<ServiceName, Part>, ledger: Ledger, databases: TestDatabase[], bus: FaultLine) {
    this.services = services;
    this.ledger = ledger;
    this.#databases = databases;
    this.#bus = bus;
  }

  static async open({ postgres, redis }: BenchServers, folder: string): Promise<WholeDeployment> {
    const databases = await Promise.all(Array.from({ length: 6 }, () => createTestDatabase()));
    const [ofOrgAccess, ofControlPlane, ofRegistry, ofBroker, ofHistory, ofDeployment] = databases.map(
      ({ url }) => url,
    ) as [string, string, string, string, string, string];
    const bus = await FaultLine.to(redis.address.url);
    const prefix = `bench-${randomUUID().slice(0, 8)}`;
    const key = () => randomBytes(32).toString('base64');
    const dataPlaneKey = randomBytes(32).toString('hex');
    const common = {
      EVENT_BUS: 'redis',
      EVENT_BUS_REDIS_URI: bus.url,
      TOPIC_PREFIX: `${prefix}.`,
      INTERNAL_TOKEN: randomUUID(),
      LOG_JSON: 'true',
    };
    const services = new Map<ServiceName, Part>();
    const add = async (service: ServiceName, database: string, env: Record<string, string>) => {
      const servers = { DATABASE_URI: database, REDIS_URI: redis.address.url };
      const part = await Part.create({ service, servers, env: { ...common, ...env } });
      services.set(service, part);
      return part.url;
    };
    const orgAccessUrl = await add('org-access', ofOrgAccess, { ENCRYPTION_KEY: key() });
    const controlPlaneUrl = await add('control-plane', ofControlPlane, {
      ENCRYPTION_KEY: key(),
      ORG_ACCESS_URL: orgAccessUrl,
      // No deployment of it has images.
      REGISTRY_SERVICE_URL: 'http://127.0.0.1:9',
      PUBLIC_URL: 'http://127.0.0.1',
      DATA_PLANE_KEY: dataPlaneKey,
      DATA_DIR: folder,
    });
    await add('data-plane', ofControlPlane, {
      ENCRYPTION_KEY: key(),
      DATA_PLANE_KEY: dataPlaneKey,
      CONTROL_PLANE_URL: controlPlaneUrl,
      PUBLIC_URL: 'http://127.0.0.1',
      DATA_POSTGRES_URI: postgres.address.adminUrl,
      DATA_REDIS_URI: redis.address.url,
      DATA_DIR: path.join(folder, 'data-plane'),
      AGENT_API_COMMAND: 'none',
      RUN_WORKER_COMMAND: 'none',
    });
    await add('builder', ofControlPlane, {
      CONTROL_PLANE_URL: controlPlaneUrl,
      REGISTRY_SERVICE_URL: 'http://127.0.0.1:9',
      DATA_DIR: path.join(folder, 'builder'),
    });
    await add('registry', ofRegistry, {
      CONTROL_PLANE_URL: controlPlaneUrl,
      PUBLIC_URL: 'http://127.0.0.1',
      DATA_DIR: folder,
    });
    const brokerUrl = await add('oauth-broker', ofBroker, {
      ENCRYPTION_KEY: key(),
      ORG_ACCESS_URL: orgAccessUrl,
      CONTROL_PLANE_URL: controlPlaneUrl,
      PUBLIC_URL: 'http://127.0.0.1',
    });
    const historyUrl = await add('run-history', ofHistory, {
      ORG_ACCESS_URL: orgAccessUrl,
      CONTROL_PLANE_URL: controlPlaneUrl,
      DEPLOYMENTS_REDIS_URI: redis.address.url,
    });
    await add('gateway', ofControlPlane, {
      ORG_ACCESS_URL: orgAccessUrl,
      CONTROL_PLANE_URL: controlPlaneUrl,
      OAUTH_BROKER_URL: brokerUrl,
      RUN_HISTORY_URL: historyUrl,
    });
    const deployment = {
      REDIS_KEY_PREFIX: prefix,
      PROJECT_DIR: PROJECT,
      DEPLOYMENT_ID: randomUUID(),
      REVISION_ID: 'bench',
      RUNYARD_AUTH: 'none',
    };
    for (const service of ['agent-api', 'run-worker'] as const) await add(service, ofDeployment, deployment);
    return new WholeDeployment(services, new Ledger(path.join(folder, 'ledger.jsonl')), databases, bus);
  }

  part(service: ServiceName): Part {
    const part = this.services.get(service);
    if (!part) throw new Error(`there is no ${service}`);
    return part;
  }

  get serviceNames(): readonly ServiceName[] {
    return SERVICES;
  }

  /** Makes the server refuse every connection. */
  async takeAway(server: ServerName): Promise<void> {
    await Promise.all(this.#linesTo(server).map((line) => line.refuse()));
  }

  async giveBack(server: ServerName): Promise<void> {
    await Promise.all(this.#linesTo(server).map((line) => line.heal()));
  }

  async close(): Promise<void> {
    await Promise.all([...this.services.values()].map((part) => part.close()));
    await this.#bus.close();
    await Promise.all(this.#databases.map((database) => database.close()));
  }

  #linesTo(server: ServerName): FaultLine[] {
    const lines = [...this.services.values()].map((part) => part.lines[server]);
    return server === 'redis' ? [...lines, this.#bus] : lines;
  }
}
