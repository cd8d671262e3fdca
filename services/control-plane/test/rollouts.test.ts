import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deployment, Revision } from '@runyard/contracts';
import { DeploymentTokens } from '@runyard/deployments';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsOf } from './support/deployment-rows.ts';
import { TestPlatform } from './support/platform.ts';
import { createEmpty } from './support/sources.ts';

interface StartedWith {
  pid: number;
  env: Record<string, string>;
  secrets: Record<string, string>;
}

let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.start({}, { hasOwnProcess: true });
});
afterAll(() => platform.close());

const secretsOf = (values: Record<string, string>) => Object.entries(values).map(([name, value]) => ({ name, value }));
const change = (id: string, values: Record<string, string>) =>
  platform.call<Deployment>('PATCH', `/v2/deployments/${id}`, { body: { secrets: secretsOf(values) } });
const startedWith = async (id: string): Promise<StartedWith> =>
  (await (await fetch(`${await platform.upstreamOf(id)}/started-with`)).json()) as StartedWith;
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}/exe`);
const untilGone = (pid: number) => waitFor(() => !isAlive(pid), { what: `the end of process ${pid}` });

// The tests of a group go on with one deployment, in this order.
describe('a revision', () => {
  let id: string;
  let first: string;

  it('is given what it needs, and secrets only through a pipe', async () => {
    const deployment = await platform.createHealthy({
      secrets: secretsOf({
        MODEL_KEY: 'value-of-the-model-key',
        N_JOBS_PER_WORKER: '3',
        MOUNT_PREFIX: '/agents',
        COLOR: 'red',
      }),
    });
    id = deployment.id;
    first = deployment.latest_revision_id!;
    const { pid, env, secrets } = await startedWith(id);
    expect(env).toMatchObject({
      HOST: '127.0.0.1',
      PROJECT_DIR: platform.projectDir,
      LANGGRAPH_CONFIG_PATH: join(platform.projectDir, 'langgraph.json'),
      DEPLOYMENT_ID: id,
      REVISION_ID: first,
      PLATFORM_JWKS_URL: `${platform.callers.orgAccessUrl}/.well-known/jwks.json`,
      REDIS_KEY_PREFIX: expect.stringContaining(id),
      N_JOBS_PER_WORKER: '3',
    });
    expect(secrets).toMatchObject({ DATABASE_URI: expect.stringContaining('runyard_') });
    const redis = new URL(secrets.REDIS_URI!);
    expect(redis.username).toBe(`runyard_${id.replaceAll('-', '')}`);
    expect(redis.host).toBe(new URL(platform.redis.url).host);
    expect(JSON.stringify(secrets)).not.toContain(new URL(platform.redis.url).password);
    const token = new DeploymentTokens(platform.encryptionKey).variableOf(id);
    const given = JSON.parse(secrets.PROJECT_ENV!);
    expect(given).toMatchObject({
      MODEL_KEY: 'value-of-the-model-key',
      [token.name]: token.value,
      RUNYARD_DEPLOYMENT_KEYS: expect.stringMatching(/^.{44},.{44}$/),
    });

    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    const password = new URL(secrets.DATABASE_URI!).password;
    expect(password).toHaveLength(48);
    for (const secret of [password, 'value-of-the-model-key', token.value, given.RUNYARD_DEPLOYMENT_KEYS])
      expect(environment).not.toContain(secret);
    for (const name of ['ENCRYPTION_KEY', 'INTERNAL_TOKEN', 'DATA_POSTGRES_URI', 'DATA_REDIS_URI', 'DATA_PLANE_KEY'])
      expect(environment).not.toContain(name);
  });

  it('has a database of its own that other deployments cannot enter', async () => {
    const other = await platform.createHealthy();
    const uriOfOne = new URL((await startedWith(id)).secrets.DATABASE_URI!);
    const uriOfTwo = new URL((await startedWith(other.id)).secrets.DATABASE_URI!);
    expect(uriOfOne.pathname).not.toBe(uriOfTwo.pathname);
    const trespass = new URL(uriOfOne);
    trespass.pathname = uriOfTwo.pathname;
    await expect(withDatabaseClient(trespass.href, (client) => client.query('SELECT 1'))).rejects.toThrow(
      /permission denied/,
    );
    await platform.call('DELETE', `/v2/deployments/${other.id}`);
  });

  it('has in its route the mount prefix that its server reports', async () => {
    expect(await platform.routeOf(id)).toMatchObject({ mount_prefix: '/agents' });
  });

  it('replaces its predecessor once it is healthy, and the old one ends', async () => {
    const old = await startedWith(id);
    const { body } = await change(id, { COLOR: 'blue', MOUNT_PREFIX: '/agents/../threads' });
    expect(body.latest_revision_id).not.toBe(first);
    expect(body.active_revision_id).toBe(first);
    await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');

    const fresh = await startedWith(id);
    expect(JSON.parse(fresh.secrets.PROJECT_ENV!)).toMatchObject({ COLOR: 'blue' });
    expect(fresh.env.REVISION_ID).toBe(body.latest_revision_id);
    const active = await withDatabaseClient(fresh.secrets.DATABASE_URI!, (client) =>
      client.query('SELECT active_revision FROM deployment'),
    );
    expect(active.rows).toEqual([{ active_revision: body.latest_revision_id }]);
    const late = await fetch(`http://127.0.0.1:${old.env.PORT}/ok`);
    expect(late.status, 'who has not heard of the new one is answered still').toBe(200);
    await untilGone(old.pid);
    const before = await platform.call<Revision>('GET', `/v2/deployments/${id}/revisions/${first}`);
    expect(before.body.status).toBe('DEPLOYED');
  });

  it('has no mount prefix in its route when the one that its server reports is ambiguous', async () => {
    expect(await platform.routeOf(id)).toMatchObject({ mount_prefix: null });
  });

  it('is created again with its own secrets by a redeploy', async () => {
    const again = await platform.call<Deployment>('POST', `/v2/deployments/${id}/revisions/${first}/redeploy`);
    expect(again.status).toBe(200);
    expect(again.body.latest_revision_id).not.toBe(first);
    await platform.untilStatus(id, again.body.latest_revision_id!, 'DEPLOYED');
    await waitFor(async () => JSON.parse((await startedWith(id)).secrets.PROJECT_ENV!).COLOR === 'red');
  });

  it('is created by POST to the revisions, whatever changes', async () => {
    const made = await platform.call<Revision>('POST', `/v2/deployments/${id}/revisions`);
    expect(made).toMatchObject({ status: 201, body: { status: 'CREATING' } });
    await platform.untilStatus(id, made.body.id, 'DEPLOYED');
  });

  it('that cannot start fails with the reason and its last lines, and does not replace the active one', async () => {
    const { active_revision_id } = (await platform.get(id)).body;
    const serving = await startedWith(id);
    const { body } = await change(id, { FAIL_WITH: 'a missing module' });
    const failed = await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOY_FAILED');
    // Both start at once, and the first failure is reported.
    expect(failed.status_message).toMatch(/^(agent-api|run-worker) ended with code 3/);
    expect(failed.status_message).toContain('cannot load the graph');
    expect((await platform.get(id)).body).toMatchObject({ active_revision_id, latest_revision_id: failed.id });
    expect((await startedWith(id)).pid).toBe(serving.pid);
  });

  it('that cannot start pauses the crons of a project that runs in its folder, until another revision does', async () => {
    const failedEdit = async () => rowsOf(platform, { id }, 'SELECT failed_revision FROM deployment');
    const { latest_revision_id } = (await platform.get(id)).body;
    expect(await failedEdit()).toEqual([{ failed_revision: latest_revision_id }]);
    const { body } = await change(id, { COLOR: 'green' });
    await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');
    expect(await failedEdit()).toEqual([{ failed_revision: null }]);
  });

  it('that cannot start leaves a new deployment not ready, until another revision does', async () => {
    const { body: made } = await platform.create({ secrets: secretsOf({ FAIL_WITH: 'a missing module' }) });
    const { id } = made;
    await platform.untilStatus(id, made.latest_revision_id!, 'DEPLOY_FAILED');
    const listed = async (status: string) => {
      const path = `/v2/deployments?status=${status}&deployment_ids=${id}`;
      return (await platform.call<{ resources: unknown[] }>('GET', path)).body.resources.length;
    };
    const look = async () => [
      (await platform.get(id)).body.status,
      await listed('READY'),
      await listed('AWAITING_DATABASE'),
    ];
    expect(await look()).toEqual(['AWAITING_DATABASE', 0, 1]);
    const { body } = await change(id, {});
    await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');
    expect(await look()).toEqual(['READY', 1, 0]);
  });

  it('is skipped when a newer one was created before its turn', async () => {
    const first = (await change(id, { NEVER_HEALTHY: '1' })).body.latest_revision_id!;
    await platform.untilStatus(id, first, 'DEPLOYING');
    const ids: string[] = [];
    for (const COLOR of ['green', 'blue', 'white']) ids.push((await change(id, { COLOR })).body.latest_revision_id!);
    await platform.call('POST', `/v2/deployments/${id}/revisions/${first}/interrupt`);
    await platform.untilStatus(id, ids.at(-1)!, 'DEPLOYED');
    const statuses = await Promise.all(
      ids.map(
        async (each) => (await platform.call<Revision>('GET', `/v2/deployments/${id}/revisions/${each}`)).body.status,
      ),
    );
    expect(statuses).toEqual(['SKIPPED', 'SKIPPED', 'DEPLOYED']);
    expect(JSON.parse((await startedWith(id)).secrets.PROJECT_ENV!)).toMatchObject({ COLOR: 'white' });
  });
});

describe('a revision that drains', () => {
  let id: string;
  const revise = async (values: Record<string, string>) => {
    const { body } = await change(id, values);
    await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');
  };

  it('goes on while its successor serves', async () => {
    ({ id } = await platform.createHealthy({ secrets: secretsOf({ STOP_DELAY_MS: '1500' }) }));
    const old = await startedWith(id);
    await revise({ STOP_DELAY_MS: '60000' });
    await waitFor(async () => (await startedWith(id)).pid !== old.pid);
    expect(isAlive(old.pid)).toBe(true);
    await untilGone(old.pid);
  });

  it('is ended when its deployment is deleted', async () => {
    const { pid } = await startedWith(id);
    await revise({});
    expect(isAlive(pid)).toBe(true);
    await platform.call('DELETE', `/v2/deployments/${id}`);
    expect(await platform.get(id)).toMatchObject({ status: 404 });
    expect(isAlive(pid)).toBe(false);
  });
});

it('a revision runs as many servers and workers as it requests, its servers in its route, and one that ends is replaced', async () => {
  const resource_spec = { min_scale: 2, queue_min_scale: 3, memory_mb: 256 };
  const { id, active_revision_id } = await platform.createHealthy({
    source_config: { project_path: platform.projectDir, resource_spec },
  });
  expect(childrenOf(platform.dataPlane.service.pid, active_revision_id!)).toHaveLength(5);
  expect((await startedWith(id)).env.GRAPH_HOST_HEAP_MB).toBe('256');
  const upstreams = async () => (await platform.routeOf(id))!.upstreams;
  const before = await upstreams();
  expect(new Set(before).size).toBe(2);
  await fetch(`${before[0]}/crash`).catch(() => undefined);
  await waitFor(async () => !(await upstreams()).includes(before[0]!) && (await upstreams()).length === 2, {
    what: 'a route to the new process',
  });
  expect(await upstreams()).toContain(before[1]);
  await platform.call('DELETE', `/v2/deployments/${id}`);
});

describe('a deployment', () => {
  let id: string;
  let name: string;

  it('follows with its route when a process crashes, which is restarted', async () => {
    ({ id, name } = await platform.createHealthy());
    const before = await startedWith(id);
    const version = (await platform.routeOf(id))!.version;
    await fetch(`${await platform.upstreamOf(id)}/crash`).catch(() => undefined);
    await waitFor(async () => (await startedWith(id).catch(() => before)).pid !== before.pid, {
      what: 'a new process',
    });
    expect((await platform.routeOf(id))!.version).toBeGreaterThan(version);
  });

  it('has a process restarted each time it crashes', async () => {
    for (let crash = 0; crash < 3; crash += 1) {
      const { pid } = await startedWith(id);
      process.kill(pid, 'SIGKILL');
      await waitFor(async () => (await startedWith(id).catch(() => ({ pid }))).pid !== pid, { what: 'a new process' });
    }
  });

  it('leaves no process, database, role, Redis key, log or route when it is deleted', async () => {
    const { pid, secrets, env } = await startedWith(id);
    const redis = new Redis(platform.redis.url);
    await redis.set(`{${env.REDIS_KEY_PREFIX}}:something`, '1');
    await redis.set(`${env.REDIS_KEY_PREFIX}:else`, '1');

    expect(await platform.call('DELETE', `/v2/deployments/${id}`)).toEqual({ status: 204, body: undefined });
    expect(await platform.get(id)).toMatchObject({ status: 404 });
    expect(await platform.routeOf(id)).toBeUndefined();
    expect(isAlive(pid)).toBe(false);
    const name = new URL(secrets.DATABASE_URI!).pathname.slice(1);
    const left = await withDatabaseClient(platform.database.url, (client) =>
      client.query(
        'SELECT datname FROM pg_database WHERE datname = $1 UNION SELECT rolname FROM pg_roles WHERE rolname = $1',
        [name],
      ),
    );
    expect(left.rows).toEqual([]);
    expect(await redis.keys(`*${env.REDIS_KEY_PREFIX}*`)).toEqual([]);
    redis.disconnect();
    expect(existsSync(join(platform.folder, 'logs', id))).toBe(false);
  });

  it('frees its name when it is deleted', async () => {
    await createEmpty(platform, { name });
  });

  it('that is deleted does not wait for a start in progress', async () => {
    const { body } = await platform.create({ secrets: secretsOf({ NEVER_HEALTHY: '1' }) });
    await platform.untilStatus(body.id, body.latest_revision_id!, 'DEPLOYING');
    await waitFor(() => childrenOf(platform.dataPlane.service.pid, body.latest_revision_id!).length > 0);
    await platform.call('DELETE', `/v2/deployments/${body.id}`);
    expect(await platform.get(body.id)).toMatchObject({ status: 404 });
    expect(childrenOf(platform.dataPlane.service.pid, body.latest_revision_id!)).toEqual([]);
  });
});

/** Returns the ids of a parent's child processes for a revision. */
function childrenOf(parent: number, revisionId: string): number[] {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim();
  return children
    .split(' ')
    .filter(Boolean)
    .map(Number)
    .filter((pid) => environmentOf(pid).includes(revisionId));
}

/** Returns the variables of a process; none of one that has ended since it was listed. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}
