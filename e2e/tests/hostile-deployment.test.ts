import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { newClient } from '../harness/client.ts';
import { callControlPlane, createDeployment, type Deployment, waitUntilDeployed } from '../harness/control-plane.ts';
import type { Target } from '../projects/hostile/graph.ts';

const { url, apiKey, deploymentId, deploymentUrl, dataDir, output } = inject('platform');
const HOSTILE_PROJECT = path.resolve(import.meta.dirname, '../projects/hostile');
/** The start prints whose rights the code of projects has. */
const line = /^ {2}projects +(.*)$/m.exec(output)?.[1] ?? '';
const hasUsers = line.startsWith('run as users of their own');

interface Outcome {
  uid: number;
  environment: string[];
  environments: string[];
  files: unknown[];
  parent: unknown;
  memory: unknown;
  sockets: unknown[];
  ownSockets: unknown;
  redis: string[] | null;
  postgres: string | null;
  metadata: unknown;
  root: unknown;
  publication: string | null;
}

/** One of the two tests runs, by what the machine allows: neither is skipped. */
if (hasUsers) describe('code of a deployment that tries to leave it', tryToLeave);
else
  it('a platform that cannot run projects as users of their own says so when it starts, with the reason', expectReason);

async function expectReason(): Promise<void> {
  if (process.geteuid?.() !== 0) return expect(line).toMatch(/^run as your own user and can read what it can/);
  expect(line).toMatch(/^run as root and can read everything, as /);
  const [, closed] = /, as (\/.*) is closed to other users: /.exec(line) ?? [];
  if (closed !== undefined) expect((await stat(closed)).mode & 0o005).not.toBe(0o005);
}

function tryToLeave(): void {
  let hostile: Deployment;
  let outcome: Outcome;

  const runOf = async <T>(graph: string, input: Record<string, unknown>): Promise<T> => {
    const client = newClient({ apiUrl: hostile.source_config.custom_url });
    return ((await client.runs.wait(null, graph, { input })) as { outcome: T }).outcome;
  };

  beforeAll(async () => {
    hostile = await createDeployment('hostile', HOSTILE_PROJECT);
    await waitUntilDeployed(hostile);
    outcome = await runOf<Outcome>('attempts', { target: await findTarget() });
  });
  afterAll(async () => {
    if (hostile) await callControlPlane('DELETE', `/deployments/${hostile.id}`);
  });

  it('is a user of its own, and sees no secret of the platform in its environment', () => {
    expect(outcome.uid).toBeGreaterThanOrEqual(100_000);
    const secret = /DATABASE|POSTGRES|REDIS|KAFKA|TOKEN|ENCRYPTION|SECRETS_FD/;
    // The token is the deployment's own.
    expect(outcome.environment.filter((name) => secret.test(name))).toEqual(['RUNYARD_DEPLOYMENT_TOKEN']);
  });

  it('reads no environment of another user, nor the memory of its parent, and sends it no signal', () => {
    expect(outcome).toMatchObject({ environments: [], memory: 'EACCES', parent: 'EPERM' });
  });

  it('reads no file in which the platform keeps a secret, enters no socket folder of others, and changes nothing in that of its parent', () => {
    expect(outcome.files.length).toBeGreaterThan(10);
    expect(new Set(outcome.files)).toEqual(new Set(['EACCES']));
    // The deployment that all tests share has two.
    expect(outcome.sockets.length).toBeGreaterThan(1);
    expect(new Set(outcome.sockets)).toEqual(new Set(['EACCES']));
    expect(outcome.ownSockets).toBe('EACCES');
  });

  it('is asked for a password by Redis, whatever it wants of another deployment, and by Postgres', () => {
    if (process.env.RUNYARD_REDIS_URL) expect(outcome.redis).toBeNull();
    else expect(outcome.redis).toEqual(Array(8).fill(expect.stringMatching(/^-NOAUTH/)));
    if (process.env.RUNYARD_POSTGRES_URL) expect(outcome.postgres).toBeNull();
    else expect(outcome.postgres).toMatch(/^R[1-9]|^E$/);
  });

  it('publishes nothing on Kafka, and gets no request of another deployment by trying to', async () => {
    if (!process.env.RUNYARD_KAFKA_BROKERS) expect(outcome.publication).not.toBe('published');
    for (let request = 0; request < 20; request += 1) {
      const { status } = await fetch(`${deploymentUrl}/info`, { headers: { 'x-api-key': apiKey } });
      expect(status).toBe(200);
    }
    expect(await runOf('visits', { target: {} })).toEqual({ visits: '' });
  });

  it('gets nothing of the deployment at the root, which needs no key of the person who started the platform', async () => {
    expect(outcome.root).toBe(401);
    expect((await fetch(`${url}/info`)).status).toBe(200);
  });

  it('is answered by no metadata service', () => {
    expect(outcome.metadata).not.toBe(200);
  });
}

async function findTarget(): Promise<Target> {
  const { body: victim } = await callControlPlane<{ name: string }>('GET', `/deployments/${deploymentId}`);
  const route = {
    deployment_id: deploymentId,
    name: victim.name,
    slug: null,
    workspace_id: crypto.randomUUID(),
    organization_id: crypto.randomUUID(),
    active_revision_id: null,
    has_custom_auth: false,
  };
  return {
    files: await findSecretFiles(),
    redisPort: await readPort('redis'),
    redisPrefix: deploymentId,
    postgresPort: await readPort('postgres'),
    rootUrl: url,
    brokers: await readBrokers(),
    route,
  };
}

/** Returns every file in which the launcher and the servers keep a secret. */
async function findSecretFiles(): Promise<string[]> {
  const isSecret = /^api-key$|^(ready|root)\.json$|\.(password|conf|properties|log)$|^processes\.json$/;
  const names = (await readdir(dataDir)).filter((name) => isSecret.test(name));
  for (const folder of ['secrets', 'logs']) {
    names.push(...(await readdir(path.join(dataDir, folder))).map((name) => path.join(folder, name)));
  }
  return names.map((name) => path.join(dataDir, name));
}

/**
 * Returns null where the environment names the server: the platform does not decide whether that one requires a
 * password.
 */
async function readPort(server: 'postgres' | 'redis'): Promise<number | null> {
  if (process.env[`RUNYARD_${server.toUpperCase()}_URL`]) return null;
  return Number(await readFile(path.join(dataDir, `${server}.port`), 'utf8'));
}

async function readBrokers(): Promise<string[]> {
  const named = process.env.RUNYARD_KAFKA_BROKERS;
  return named ? named.split(',') : [`127.0.0.1:${await readFile(path.join(dataDir, 'kafka.port'), 'utf8')}`];
}
