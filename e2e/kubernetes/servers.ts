import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type KafkaServer, startInfrastructure } from '@runyard/local-infra';
import { withDatabaseClient } from '@runyard/test-kit';

export interface TestServers {
  /** Makes a role, and a database of its name that it owns; returns its connection string. */
  createDatabase(name: string): Promise<string>;
  /** Makes a role for the databases of deployments; returns its connection string. */
  createDeploymentsRole(name: string): Promise<string>;
  /** Returns the names of all roles and databases. */
  listNames(): Promise<string[]>;
  redis: { url: string; buildsUrl: string };
  kafka: KafkaServer;
  stop(): Promise<void>;
}

/** Starts the servers that a chart does not bring, at an address of this machine that pods reach. */
export async function startServers(host: string): Promise<TestServers> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'runyard-kubernetes-'));
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('RUNYARD_')));
  const started = await startInfrastructure({
    dataDir,
    servers: ['postgres', 'redis', 'kafka'],
    requireKafka: true,
    host,
    environment,
  });
  const { adminUrl } = started.postgres;
  const createRole = async (name: string, rights: string): Promise<URL> => {
    const password = randomBytes(16).toString('hex');
    await withDatabaseClient(adminUrl, (client) =>
      client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password}' ${rights}`),
    );
    return Object.assign(new URL(adminUrl), { username: name, password });
  };
  return {
    async createDatabase(name) {
      const url = await createRole(name, '');
      await withDatabaseClient(adminUrl, (client) => client.query(`CREATE DATABASE ${name} OWNER ${name}`));
      return Object.assign(url, { pathname: `/${name}` }).href;
    },
    createDeploymentsRole: async (name) => (await createRole(name, 'CREATEDB CREATEROLE')).href,
    listNames: () =>
      withDatabaseClient(adminUrl, async (client) => {
        const { rows } = await client.query<{ name: string }>(
          'SELECT datname AS name FROM pg_database UNION SELECT rolname FROM pg_roles ORDER BY name',
        );
        return rows.map(({ name }) => name);
      }),
    redis: started.redis,
    kafka: started.kafka as KafkaServer,
    async stop() {
      await started.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
