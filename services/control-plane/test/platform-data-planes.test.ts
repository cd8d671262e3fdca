import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deployment } from '@runyard/contracts';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { PROJECT } from '@runyard/test-kit/built-project';
import { WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DATA_PLANE_KEY as KEY } from './support/credentials.ts';
import { TestPlatform } from './support/platform.ts';
import { processesOf } from './support/processes.ts';
import { TestDataPlane } from './support/remote-data-plane.ts';
import { createEmpty, deploy } from './support/sources.ts';

/** Rows that a test writes as an earlier release left them are looked at soon, as at the start after an update. */
const SWEPT = { SWEEP_SECONDS: '1' };

let platform: TestPlatform;
let started: TestDataPlane[] = [];
beforeAll(async () => {
  platform = await TestPlatform.start({ ...SWEPT, LISTENER_LEASE_SECONDS: '3' }, { hasDataPlane: false });
});
afterEach(async () => {
  // Whoever still runs removes the deployments.
  await platform.deleteAll();
  await waitFor(async () => (await platform.routes()).length === 0, { what: 'the end of all deployments' });
  await Promise.all(started.map((each) => each.close()));
  started = [];
});
afterAll(() => platform?.close());

async function startDataPlane(): Promise<TestDataPlane> {
  const dataPlane = await TestDataPlane.ofPlatform(platform);
  started.push(dataPlane);
  await dataPlane.start();
  return dataPlane;
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}/exe`);

async function startedWith({ id }: Deployment): Promise<{ pid: number; own: Record<string, string> }> {
  const answer = await fetch(`${await platform.upstreamOf(id)}/started-with`);
  const { pid, secrets } = (await answer.json()) as { pid: number; secrets: Record<string, string> };
  return { pid, own: JSON.parse(secrets.PROJECT_ENV ?? '{}') };
}

/** Waits until another process serves the deployment. */
const untilServedBy = (deployment: Deployment, isThis: (pid: number) => boolean): Promise<number> =>
  waitFor(
    async () => {
      const { pid } = await startedWith(deployment).catch(() => ({ pid: 0 }));
      return pid !== 0 && isThis(pid) ? pid : undefined;
    },
    { what: 'the deployment in other hands' },
  );

/** Calls as the data plane of this id, with the key. */
const speak = (method: string, path: string, body?: object, key = KEY) =>
  platform.call<{ detail?: unknown; epoch?: number }>(method, path, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body }),
  });

describe("the platform's own data plane", () => {
  it('runs what no listener has, announces its route, and removes it when it is deleted', async () => {
    platform.callers.workspaceSecrets.set('MODEL', 'the key of a model');
    await startDataPlane();
    const deployment = await platform.createHealthy({
      secrets: [{ name: 'GREETING', value: 'hello' }],
      secret_references: [{ name: 'MODEL_KEY', secret_name: 'workspace-secrets', secret_key: 'MODEL' }],
    });
    const { pid, own } = await startedWith(deployment);
    expect(own).toMatchObject({ GREETING: 'hello', MODEL_KEY: 'the key of a model' });
    expect(await platform.routeOf(deployment.id)).toMatchObject({ active_revision_id: deployment.latest_revision_id });

    const body = { secrets: [{ name: 'GREETING', value: 'good evening' }] };
    const { latest_revision_id: next } = (
      await platform.call<Deployment>('PATCH', `/v2/deployments/${deployment.id}`, { body })
    ).body;
    await platform.untilStatus(deployment.id, next!, 'DEPLOYED');
    await untilServedBy(deployment, (found) => found !== pid);
    expect((await startedWith(deployment)).own).toMatchObject({ GREETING: 'good evening' });

    expect((await platform.call('DELETE', `/v2/deployments/${deployment.id}`)).status).toBe(204);
    expect(processesOf(next!)).toEqual([]);
    expect((await platform.get(deployment.id)).status).toBe(404);
  });

  it('starts a revision whose workspace secrets cannot be read as soon as org-access answers', async () => {
    platform.callers.workspaceSecrets.set('MODEL', 'the key of a model');
    platform.callers.isUnwell = true;
    const dataPlane = await startDataPlane();
    const secret_references = [{ name: 'MODEL_KEY', secret_name: 'workspace-secrets', secret_key: 'MODEL' }];
    const { id, latest_revision_id } = (await platform.create({ secret_references })).body;
    await waitFor(() => dataPlane.service.output().includes('rollout failed, will retry'), {
      what: 'a failed attempt',
    });
    platform.callers.isUnwell = false;
    await platform.untilStatus(id, latest_revision_id!, 'DEPLOYED');
  });

  it('that is killed gets its deployments back at once, with their number of processes', async () => {
    const dataPlane = await startDataPlane();
    const deployment = await platform.createHealthy();
    const { pid } = await startedWith(deployment);
    await dataPlane.kill();
    await dataPlane.start();
    await untilServedBy(deployment, (found) => found !== pid);
    expect(processesOf(deployment.latest_revision_id!)).toHaveLength(2);
  });

  it('goes on while the platform is away, also after a restart, and then applies the changes made meanwhile', async () => {
    const dataPlane = await startDataPlane();
    const deployment = await platform.createHealthy();
    const { pid } = await startedWith(deployment);
    await dataPlane.line.refuse();
    await dataPlane.kill();
    await waitFor(() => !isAlive(pid), { what: 'the end of its processes' });
    const body = { secrets: [{ name: 'GREETING', value: 'two' }] };
    const { latest_revision_id: next } = (
      await platform.call<Deployment>('PATCH', `/v2/deployments/${deployment.id}`, { body })
    ).body;
    await dataPlane.start();
    await waitFor(() => processesOf(deployment.latest_revision_id!).length === 2, { what: 'its processes' });
    await dataPlane.line.heal();
    await platform.untilStatus(deployment.id, next!, 'DEPLOYED');
    await waitFor(async () => (await startedWith(deployment)).own.GREETING === 'two', { what: 'the change' });
  });
});

describe('one of several data planes of the platform', () => {
  it('alone has a deployment; when it is cut off another takes it up, and it ends what it ran and changes no route', async () => {
    const former = await startDataPlane();
    const deployment = await platform.createHealthy();
    const { pid } = await startedWith(deployment);
    const successor = await startDataPlane();
    await former.line.refuse();
    const now = await untilServedBy(deployment, (found) => found !== pid);
    await former.line.heal();
    await waitFor(() => !isAlive(pid), { what: 'the end of what the former one ran' });
    await waitFor(() => former.service.output().includes('deployment lease lost'), { what: 'its word of it' });
    expect((await startedWith(deployment)).pid).toBe(now);
    expect(processesOf(deployment.latest_revision_id!)).toHaveLength(2);
    expect(successor.service.output()).not.toContain('deployment lease lost');
  });

  it('that stopped, and starts while the platform is away, keeps its builds', async () => {
    const dataPlane = await startDataPlane();
    const { id } = await createEmpty(platform);
    const revisionId = (await deploy(platform, id)).body.latest_revision_id!;
    await platform.untilStatus(id, revisionId, 'DEPLOYED');
    const builds = await readdir(join(dataPlane.folder, 'artifacts', id));
    await dataPlane.stop();
    await dataPlane.line.refuse();
    await dataPlane.start();
    expect(await readdir(join(dataPlane.folder, 'artifacts', id))).toEqual(builds);
    await dataPlane.line.heal();
    await platform.upstreamOf(id);
  });

  it('that stops hands its deployments over at once', async () => {
    const former = await startDataPlane();
    const deployment = await platform.createHealthy();
    const { pid } = await startedWith(deployment);
    await startDataPlane();
    await former.stop();
    await untilServedBy(deployment, (found) => found !== pid);
    expect(processesOf(deployment.latest_revision_id!)).toHaveLength(2);
  });
});

describe('a project that the platform builds', () => {
  let builder: TestPlatform;
  const own: TestDataPlane[] = [];
  beforeAll(async () => {
    builder = await TestPlatform.start(SWEPT, { hasDataPlane: false });
  });
  afterAll(async () => {
    await builder?.deleteAll();
    await Promise.all(own.map((each) => each.close()));
    await builder?.close();
  });

  const start = async () => {
    const dataPlane = await TestDataPlane.ofPlatform(builder);
    own.push(dataPlane);
    await dataPlane.start();
    return dataPlane;
  };
  const projectOf = async (id: string): Promise<string> => {
    const answer = await fetch(`${await builder.upstreamOf(id)}/started-with`);
    return ((await answer.json()) as { env: { PROJECT_DIR: string } }).env.PROJECT_DIR;
  };
  const untilRunsIn = (dataPlane: TestDataPlane, id: string): Promise<string> =>
    waitFor(
      async () => {
        const folder = await projectOf(id).catch(() => '');
        return folder.startsWith(join(dataPlane.folder, 'artifacts', id)) ? folder : undefined;
      },
      { what: 'the project at the data plane' },
    );

  it('before data planes ran it is fetched by the one that takes it up, as new builds are, and those that got lost', async () => {
    const { id } = await createEmpty(builder);
    const former = await start();
    const first = (await deploy(builder, id)).body.latest_revision_id!;
    await builder.untilStatus(id, first, 'DEPLOYED');
    await former.stop();
    // Releases without data planes left such rows, and no archives.
    await withDatabaseClient(builder.database.url, (client) =>
      client.query(
        'UPDATE revision SET image = NULL, build_reported_at = NULL; UPDATE deployment SET data_plane_id = NULL',
      ),
    );
    await rm(join(builder.folder, 'objects/deployments', id, 'builds'), { recursive: true });
    const dataPlane = await start();
    const folder = await untilRunsIn(dataPlane, id);
    expect(await readFile(join(folder, 'langgraph.json'), 'utf8')).toBe(PROJECT['langgraph.json']);
    expect(await readlink(join(folder, 'node_modules/@langchain'))).toContain('node_modules/@langchain');

    const next = (await deploy(builder, id, { build_command: 'echo built > result.txt' })).body.latest_revision_id!;
    await builder.untilStatus(id, next, 'DEPLOYED');
    await waitFor(async () => (await projectOf(id)) !== folder, { what: 'the next build' });
    expect(await readFile(join(await projectOf(id), 'result.txt'), 'utf8')).toBe('built\n');
    await waitFor(() => !existsSync(folder), { what: 'the removal of the build before' });
    const archives = join(builder.folder, 'objects/deployments', id, 'builds');
    await waitFor(async () => (await readdir(archives)).length === 1, { what: 'the removal of its archive' });

    // An archive that the storage has lost is made again.
    await rm(join(builder.folder, 'objects/deployments', id, 'builds'), { recursive: true });
    await dataPlane.stop();
    expect(await readFile(join(await untilRunsIn(await start(), id), 'result.txt'), 'utf8')).toBe('built\n');
  });
});

describe('a roll-out that a release without data planes left', () => {
  it.each(['AWAITING_DEPLOY', 'DEPLOYING'])('as %s, without a build, goes on', async (status) => {
    const former = await startDataPlane();
    const { id } = await createEmpty(platform);
    const revisionId = (await deploy(platform, id)).body.latest_revision_id!;
    await platform.untilStatus(id, revisionId, 'DEPLOYED');
    await former.stop();
    await withDatabaseClient(platform.database.url, async (client) => {
      await client.query('UPDATE revision SET status = $1, image = NULL, build_reported_at = NULL WHERE id = $2', [
        status,
        revisionId,
      ]);
      await client.query('UPDATE deployment SET active_revision_id = NULL, data_plane_id = NULL WHERE id = $1', [id]);
    });
    await startDataPlane();
    await platform.untilStatus(id, revisionId, 'DEPLOYED');
  });
});

describe("the key of the platform's data planes", () => {
  it('opens nothing but the requests of data planes, and none of them without it', async () => {
    const own = `/v2/listeners/${randomUUID()}`;
    const lease = { instance_id: own.split('/').at(-1) };
    expect((await speak('POST', `${own}/lease`, lease)).status).toBe(200);
    expect((await speak('GET', '/v2/deployments')).status).toBe(403);
    expect((await speak('GET', own)).status).toBe(403);
    expect((await speak('GET', `${own}/keys`)).status).toBe(403);
    expect((await speak('POST', `${own}/lease`, lease, `${KEY}.`)).status).toBe(401);
    // A caller of the workspace may not act as one of them.
    const route = `${own}/deployments/${randomUUID()}/route`;
    const asCaller = await platform.call('POST', route, { body: { epoch: 1, upstreams: [] } });
    expect(asCaller.status).toBe(403);
  });

  it('gives a data plane its own deployments alone, and only with its newest connection', async () => {
    await startDataPlane();
    const { id, latest_revision_id } = await platform.createHealthy();
    const other = `/v2/listeners/${randomUUID()}`;
    const lease = { instance_id: other.split('/').at(-1) };
    const { epoch } = (await speak('POST', `${other}/lease`, lease)).body;
    const statuses = await Promise.all([
      speak('POST', `${other}/deployments/${id}/route`, { epoch, upstreams: ['http://127.0.0.1:9'] }),
      speak('POST', `${other}/deployments/${id}/database-password`, { epoch, password: 'x'.repeat(32) }),
      speak('POST', `${other}/deployments/${id}/process-counts`, { epoch, counts: { 'run-worker': 7 } }),
      speak('POST', `${other}/deployments/${id}/status`, { epoch, status: 'READY' }),
      speak('POST', `${other}/status`, { epoch, revision_id: latest_revision_id, status: 'INTERRUPTED' }),
      speak('POST', `${other}/workspace-secrets`, {
        epoch,
        tenant_id: WORKSPACE,
        keys: [],
      }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
    expect((await speak('POST', `${other}/lease`, lease)).body.epoch).toBe(epoch! + 1);
    expect((await speak('GET', `${other}/desired-state?epoch=${epoch}`)).status).toBe(409);
    expect((await speak('POST', `${other}/lease`, { instance_id: randomUUID() })).status).toBe(422);
    expect((await speak('POST', `${other}/lease`, { ...lease, public_url: 'https://a.example.com' })).status).toBe(422);
  });
});
