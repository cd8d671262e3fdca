import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type DataPlaneLease,
  type DataPlaneLeaseRequest,
  type Deployment,
  type DeploymentMetrics,
  DeploymentMetricsPoint,
  type Listener,
  type ListenerDesiredState,
  type ListenerKeyCreated,
  type ListenerList,
  type LogPage,
  type PullToken,
  type PushToken,
  type Revision,
} from '@runyard/contracts';
import { DeploymentTokens, SecretSets } from '@runyard/deployments';
import { Cipher } from '@runyard/encryption';
import { RegistryAddress } from '@runyard/image-registry';
import { ImageClient, waitFor } from '@runyard/test-kit';
import { ALL_PERMISSIONS, OTHER_WORKSPACE, WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Queries } from '../src/database/database.ts';
import { DeploymentKeys } from '../src/deployments/deployment-keys.ts';
import type { Prisma } from '../src/generated/client.ts';
import { readDesiredState } from '../src/listeners/listener-desired-state.ts';
import { type Answer, TestPlatform } from './support/platform.ts';

let platform: TestPlatform;
let tokens: DeploymentTokens;
beforeAll(async () => {
  platform = await TestPlatform.start({ LISTENER_LEASE_SECONDS: '3' }, { hasRegistry: true });
  tokens = new DeploymentTokens(platform.encryptionKey);
});
afterAll(() => platform.close());

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
/** Keys that the platform has made for the data of a deployment. */
const KEYS = { name: 'RUNYARD_DEPLOYMENT_KEYS', value: expect.stringMatching(/^.{44},.{44}$/) };
const unknownId = '0192f7a0-0000-7000-8000-00000000ffff';
let names = 0;
const NOTHING_MEASURED = Object.fromEntries(Object.keys(DeploymentMetricsPoint.properties).map((name) => [name, null]));

const create = (body: object, as?: object) =>
  platform.call<Listener>('POST', '/v2/listeners', { body, ...(as && { as }) });
async function listenerOf(type: 'process' | 'docker' | 'k8s', as?: object): Promise<Listener> {
  const compute_config = type === 'k8s' ? { k8s_namespaces: ['agents', 'agents-test'] } : {};
  names += 1;
  const { status, body } = await create({ compute_type: type, compute_id: `machine-${names}`, compute_config }, as);
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
}
const deploy = (listener: Listener, changes: Record<string, unknown> = {}) =>
  platform.create({ source_config: { project_path: '/srv/there', listener_id: listener.id }, ...changes });

/** A data plane that the test controls. */
class DataPlane {
  readonly listener: Listener;
  readonly instanceId = randomUUID();
  epoch = 0;

  constructor(listener: Listener) {
    this.listener = listener;
  }

  static async connected(listener: Listener, said: Partial<DataPlaneLeaseRequest> = {}): Promise<DataPlane> {
    const dataPlane = new DataPlane(listener);
    expect((await dataPlane.connect(said)).status).toBe(200);
    return dataPlane;
  }

  async connect(said: Partial<DataPlaneLeaseRequest> = {}): Promise<Answer<DataPlaneLease>> {
    const body = { instance_id: this.instanceId, version: '1.2.3', ...said };
    const answer = await this.#call<DataPlaneLease>('POST', 'lease', body);
    if (answer.status === 200) this.epoch = answer.body.epoch;
    return answer;
  }

  desired(query = ''): Promise<Answer<ListenerDesiredState>> {
    return this.#call('GET', `desired-state?epoch=${this.epoch}${query}`);
  }

  report(revision_id: string, status: string, more: object = {}): Promise<Answer<{ is_accepted: boolean }>> {
    return this.#call('POST', 'status', { epoch: this.epoch, revision_id, status, ...more });
  }

  reportDeployment(id: string, status: string): Promise<Answer<unknown>> {
    return this.#call('POST', `deployments/${id}/status`, { epoch: this.epoch, status });
  }

  async deployed({ id, latest_revision_id }: Deployment): Promise<void> {
    await this.reportDeployment(id, 'READY');
    for (const status of ['QUEUED', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED']) {
      const { body } = await this.report(latest_revision_id!, status, { image_version: '0.1.0' });
      expect(body).toEqual({ is_accepted: true, status });
    }
  }

  say(about: string, body: object): Promise<Answer<unknown>> {
    return this.#call('POST', about, { epoch: this.epoch, ...body });
  }

  #call<Body>(method: string, path: string, body?: object): Promise<Answer<Body>> {
    return platform.call(method, `/v2/listeners/${this.listener.id}/${path}`, { ...(body && { body }) });
  }
}

const statusOf = async ({ id, latest_revision_id }: Deployment): Promise<string[]> => {
  const revision = await platform.call<Revision>('GET', `/v2/deployments/${id}/revisions/${latest_revision_id}`);
  return [(await platform.get(id)).body.status, revision.body.status];
};

describe('listeners', () => {
  it('are created, found, changed and deleted only by callers of their workspace', async () => {
    const made = await listenerOf('k8s');
    expect(made).toMatchObject({
      tenant_id: WORKSPACE,
      compute_type: 'k8s',
      compute_config: { k8s_namespaces: ['agents', 'agents-test'] },
      version: null,
      status: 'NEVER_CONNECTED',
      last_seen_at: null,
    });
    const path = `/v2/listeners/${made.id}`;
    expect((await platform.call('GET', path)).body).toEqual(made);
    const { body: list } = await platform.call<ListenerList>('GET', '/v2/listeners?limit=1');
    expect(list).toEqual({ resources: [made], offset: 1 });

    const elsewhere = { as: { workspace_id: OTHER_WORKSPACE } };
    const missing = { status: 404, body: { detail: `Listener ID ${made.id} not found.` } };
    expect(await platform.call('GET', path, elsewhere)).toEqual(missing);
    expect(await platform.call('PATCH', path, { ...elsewhere, body: {} })).toEqual(missing);
    expect(await platform.call('DELETE', path, elsewhere)).toEqual(missing);
    const lease = { ...elsewhere, body: { instance_id: unknownId } };
    expect(await platform.call('POST', `${path}/lease`, lease)).toEqual(missing);
    expect((await platform.call('GET', '/v2/listeners', elsewhere)).body).toMatchObject({ resources: [] });
    const read = { as: { permissions: ['deployments:read'] } };
    expect((await platform.call('POST', `${path}/lease`, { ...read, body: lease.body })).status).toBe(403);

    const body = { version: '0.2.0', compute_config: { k8s_namespaces: ['agents'] } };
    expect((await platform.call('PATCH', path, { body })).body).toMatchObject({ ...body, id: made.id });
    expect((await platform.call('DELETE', path)).status).toBe(204);
    expect(await platform.call('GET', path)).toEqual(missing);
  });

  it('are refused with invalid fields, and twice for one machine', async () => {
    const { compute_id } = await listenerOf('process');
    const again = await create({ compute_type: 'process', compute_id, compute_config: {} });
    expect(again).toEqual({
      status: 409,
      body: { detail: `Listener for workspace ID '${WORKSPACE}' and compute ID '${compute_id}' already exists.` },
    });
    const as = { workspace_id: OTHER_WORKSPACE };
    expect((await create({ compute_type: 'process', compute_id, compute_config: {} }, as)).status).toBe(201);
    const k8s = { compute_type: 'k8s', compute_id: 'c', compute_config: {} };
    expect((await create(k8s)).status).toBe(400);
    expect((await create({ ...k8s, compute_config: { k8s_namespaces: ['No_Such'] } })).status).toBe(422);
    expect((await create({ ...k8s, compute_type: 'vm' })).status).toBe(422);
    expect((await create(k8s, { permissions: ['deployments:read'] })).status).toBe(403);
    expect((await platform.call('GET', '/v2/listeners/no-id')).body).toMatchObject({
      detail: [{ loc: ['path', 'listener_id'], type: 'uuid_parsing' }],
    });
  });
});

describe('a deployment', () => {
  it('is assigned to a listener that can run it, permanently', async () => {
    const [machine, cluster] = [await listenerOf('process'), await listenerOf('k8s')];
    const image = { source: 'external_docker', source_revision_config: { image_uri: 'registry.example.com/a:1' } };
    const refused = async (body: Record<string, unknown>) =>
      (await platform.create(body)).body as unknown as { detail: string };

    const missing = { listener_id: unknownId, project_path: '/srv/there' };
    expect((await refused({ source_config: missing })).detail).toContain(`Listener ID ${unknownId} not found`);
    expect((await refused({ ...image, source_config: {} })).detail).toContain(
      `'source_config.listener_id' is required for workspace with available listener IDs: ['`,
    );
    expect((await refused({ ...image, source_config: { listener_id: machine.id } })).detail).toContain(
      "cannot be run by a listener of the compute type 'process'",
    );
    const uploaded = {
      source: 'internal_source',
      source_config: { listener_id: cluster.id, listener_config: { k8s_namespace: 'agents' } },
    };
    expect((await refused(uploaded)).detail).toContain('is not set here (PROJECT_BASE_IMAGE)');
    const unnamed = { ...image, source_config: { listener_id: cluster.id } };
    expect((await refused(unnamed)).detail).toContain("must be one of 'agents', 'agents-test'");
    const foreign = await listenerOf('process', { workspace_id: OTHER_WORKSPACE });
    expect((await deploy(foreign)).status).toBe(400);

    const listener_config = { k8s_namespace: 'agents' };
    const resource_spec = { labels: { team: 'a' }, cpu: 0.5 };
    const made = await platform.create({
      ...image,
      source_config: { listener_id: cluster.id, listener_config, resource_spec },
    });
    expect(made.body).toMatchObject({
      source_config: { listener_id: cluster.id, listener_config, resource_spec, custom_url: null },
    });
    const move = { source_config: { listener_id: machine.id } };
    expect((await platform.call('PATCH', `/v2/deployments/${made.body.id}`, { body: move })).status).toBe(400);
    const remote = await platform.call<{ resources: Deployment[] }>('GET', '/v2/deployments?remote_reconciled=true');
    expect(remote.body.resources.map(({ id }) => id)).toEqual([made.body.id]);
    expect(await platform.call('DELETE', `/v2/listeners/${cluster.id}`)).toMatchObject({
      status: 409,
      body: { detail: `Listener ID ${cluster.id} has a deployment: delete it first.` },
    });

    // No data plane ends the deployment, so it is deleted with its listener.
    expect((await platform.call('DELETE', `/v2/deployments/${made.body.id}`)).status).toBe(204);
    expect((await platform.get(made.body.id)).body.status).toBe('AWAITING_DELETE');
    expect((await platform.call('DELETE', `/v2/listeners/${cluster.id}`)).status).toBe(204);
    expect((await platform.get(made.body.id)).status).toBe(404);
  });

  it('is refused when it is created with resources that its data plane would refuse', async () => {
    const cluster = await listenerOf('k8s');
    const made = (resource_spec: object) => {
      const source_config = { listener_id: cluster.id, listener_config: { k8s_namespace: 'agents' }, resource_spec };
      const source_revision_config = { image_uri: 'registry.example.com/a:1' };
      return platform.create({ source: 'external_docker', source_config, source_revision_config });
    };
    const refusalOf = (field: string) => ({
      status: 422,
      body: { detail: [{ loc: ['body', 'source_config', 'resource_spec', field], type: 'value_error' }] },
    });
    for (const field of ['db_storage_gi', 'db_max_connections'])
      expect(await made({ [field]: 20 })).toMatchObject(refusalOf(field));
    expect(await made({ redis_memory_mb: 256 })).toMatchObject(refusalOf('redis_memory_mb'));
    expect(await made({ volumes: [] })).toMatchObject(refusalOf('volumes'));

    // The pod rules are unknown until the data plane connects and reports them.
    const dataPlane = await DataPlane.connected(cluster, { pod_rules: { metadata: ['team'], pull_secrets: ['acme'] } });
    expect((await made({ labels: { team: 'a' }, image_pull_secrets: [{ name: 'acme' }] })).status).toBe(201);
    expect(await made({ annotations: { role: 'admin' } })).toMatchObject(refusalOf('annotations'));
    expect(await made({ image_pull_secrets: [{ name: 'others' }] })).toMatchObject(refusalOf('image_pull_secrets'));
    const { body: plain } = await made({});
    const patched = await platform.call('PATCH', `/v2/deployments/${plain.id}`, {
      body: { source_config: { resource_spec: { labels: { role: 'admin' } } } },
    });
    expect(patched).toMatchObject(refusalOf('labels'));

    // An earlier release of the data plane does not report pod rules.
    await dataPlane.connect();
    expect((await made({ labels: { role: 'admin' } })).status).toBe(201);
  });

  it('reaches its data plane at once, with its secrets, and has the status that the data plane reports', async () => {
    const [mine, other] = [await listenerOf('process'), await listenerOf('process')];
    const [dataPlane, stranger] = [await DataPlane.connected(mine), await DataPlane.connected(other)];
    const before = (await dataPlane.desired()).body;
    expect(before.deployments).toEqual([]);
    const since = `&since=${before.resource_version}`;
    expect((await dataPlane.desired(since)).status).toBe(204);

    const waiting = dataPlane.desired(`${since}&wait_seconds=20`);
    const { body: deployment } = await deploy(mine, { secrets: [{ name: 'MODEL_KEY', value: 'very secret' }] });
    expect((await waiting).body.deployments).toMatchObject([
      {
        id: deployment.id,
        is_deleted: false,
        active_revision_id: null,
        revisions: [
          {
            id: deployment.latest_revision_id,
            status: 'CREATING',
            source_config: { project_path: '/srv/there' },
            secrets: [{ name: 'MODEL_KEY', value: 'very secret' }, tokens.variableOf(deployment.id), KEYS],
          },
        ],
      },
    ]);
    expect((await stranger.desired()).body.deployments).toEqual([]);
    expect((await stranger.report(deployment.latest_revision_id!, 'QUEUED')).status).toBe(404);
    expect((await stranger.reportDeployment(deployment.id, 'READY')).status).toBe(404);

    expect((await dataPlane.report(deployment.latest_revision_id!, 'DEPLOYED')).body).toEqual({
      is_accepted: false,
      status: 'CREATING',
    });
    await dataPlane.deployed(deployment);
    // The answer was lost, so the data plane reports again.
    expect((await dataPlane.report(deployment.latest_revision_id!, 'DEPLOYED')).body.is_accepted).toBe(true);
    expect((await platform.get(deployment.id)).body).toMatchObject({
      status: 'READY',
      active_revision_id: deployment.latest_revision_id,
      image_version: '0.1.0',
    });
    expect((await dataPlane.reportDeployment(deployment.id, 'DELETED')).status).toBe(404);
    await platform.call('DELETE', `/v2/deployments/${deployment.id}`);
    expect((await dataPlane.desired()).body.deployments).toMatchObject([{ id: deployment.id, is_deleted: true }]);
    expect((await dataPlane.reportDeployment(deployment.id, 'DELETED')).status).toBe(204);
    expect((await platform.get(deployment.id)).status).toBe(404);
    expect((await dataPlane.reportDeployment(deployment.id, 'DELETED')).status).toBe(204);
  });

  it('that failed has what its project printed as the reason, whatever that is', async () => {
    const listener = await listenerOf('process');
    const dataPlane = await DataPlane.connected(listener);
    const { body: deployment } = await deploy(listener);
    const id = deployment.latest_revision_id!;
    for (const status of ['QUEUED', 'AWAITING_DEPLOY', 'DEPLOYING']) await dataPlane.report(id, status);
    const told = await dataPlane.report(id, 'DEPLOY_FAILED', {
      message: 'it printed a\u0000b',
      image_version: '\u0000',
    });
    expect([told.status, told.body.is_accepted]).toEqual([200, true]);
    const { body } = await platform.call<{ status_message: string }>(
      'GET',
      `/v2/deployments/${deployment.id}/revisions/${id}`,
    );
    expect(body.status_message).toBe('it printed a\ufffdb');
    expect(
      (await platform.call('PATCH', `/v2/listeners/${listener.id}`, { body: { version: 'a\u0000' } })).status,
    ).toBe(200);
    await platform.call('DELETE', `/v2/deployments/${deployment.id}`);
    await dataPlane.reportDeployment(deployment.id, 'DELETED');
  });

  it('that is being deleted gets no active revision, although its data plane has not heard of it', async () => {
    const listener = await listenerOf('process');
    const dataPlane = await DataPlane.connected(listener);
    const { body: deployment } = await deploy(listener);
    const report = (status: string) => dataPlane.report(deployment.latest_revision_id!, status);
    for (const status of ['QUEUED', 'AWAITING_DEPLOY', 'DEPLOYING']) await report(status);
    await platform.call('DELETE', `/v2/deployments/${deployment.id}`);
    expect((await report('DEPLOYED')).body).toEqual({ is_accepted: false, status: 'DEPLOYING' });
    expect((await platform.get(deployment.id)).body.active_revision_id).toBeNull();
    await dataPlane.reportDeployment(deployment.id, 'DELETED');
  });

  it('that is created while its data plane is being answered is complete in the next answer', async () => {
    const listener = await listenerOf('process');
    const { url: connectionString } = platform.database;
    const database = await openDatabase({ connectionString, poolSize: 2, migrationsDir });
    try {
      const registry = new RegistryAddress('https://agents.example.com');
      const cipher = new Cipher(platform.encryptionKey);
      const told = { secrets: new SecretSets(cipher), tokens, keys: new DeploymentKeys(cipher), registry };
      const { deployment, revision, halt, budget, exhaustedBudget } = database.prisma;
      const findMany = async (query: Prisma.DeploymentFindManyArgs) => {
        const found = await deployment.findMany(query);
        await deploy(listener);
        return found;
      };
      const queries = { deployment: { findMany }, revision, halt, budget, exhaustedBudget } as unknown as Queries;
      const own = { listenerId: listener.id };
      const nothing = await readDesiredState(database.prisma, own, told);
      expect(await readDesiredState(queries, own, told)).toEqual(nothing);
      const next = await readDesiredState(database.prisma, own, told);
      expect(next!.deployments).toMatchObject([{ revisions: [{ status: 'CREATING' }] }]);
    } finally {
      await database.close();
    }
  });

  it('is UNKNOWN while its data plane is unresponsive, and has its last status after the next request', async () => {
    const listener = await listenerOf('process');
    const dataPlane = await DataPlane.connected(listener);
    const [{ body: running }, { body: starting }] = [await deploy(listener), await deploy(listener)];
    await dataPlane.deployed(running);
    await dataPlane.report(starting.latest_revision_id!, 'QUEUED');
    const untilUnknown = () =>
      waitFor(async () => (await statusOf(starting)).join() === 'UNKNOWN,UNKNOWN', {
        what: 'an unknown status',
      });
    await untilUnknown();
    expect(await statusOf(running)).toEqual(['UNKNOWN', 'DEPLOYED']);
    const shown = await platform.call<Listener>('GET', `/v2/listeners/${listener.id}`);
    expect(shown.body).toMatchObject({ status: 'SILENT', version: '1.2.3' });

    // Changes are accepted meanwhile, and skip waiting revisions.
    const body = { secrets: [{ name: 'A', value: 'b' }] };
    const patched = await platform.call<Deployment>('PATCH', `/v2/deployments/${starting.id}`, { body });
    expect((await statusOf(starting))[1]).toBe('SKIPPED');
    expect((await dataPlane.desired()).body.deployments).toMatchObject([
      { id: running.id, status: 'READY' },
      { id: starting.id, revisions: [{ id: patched.body.latest_revision_id, status: 'CREATING' }] },
    ]);
    expect(await statusOf(running)).toEqual(['READY', 'DEPLOYED']);
    expect(await statusOf(patched.body)).toEqual(['AWAITING_DATABASE', 'CREATING']);
  });

  it('accepts one data plane at a time: reports of a former connection change nothing', async () => {
    const listener = await listenerOf('process');
    const former = await DataPlane.connected(listener);
    const other = new DataPlane(listener);
    expect(await other.connect()).toMatchObject({ status: 409 });
    const { body: deployment } = await deploy(listener);

    // The same data plane connects again, as after a restart.
    const waiting = former.desired(`&wait_seconds=20&since=${(await former.desired()).body.resource_version}`);
    const epoch = former.epoch;
    expect((await former.connect()).body.epoch).toBe(epoch + 1);
    former.epoch = epoch;
    await platform.call('PATCH', `/v2/deployments/${deployment.id}`, { body: { secrets: [] } });
    expect((await waiting).status).toBe(409);
    expect((await former.report(deployment.latest_revision_id!, 'QUEUED')).status).toBe(409);
    expect((await former.desired()).status).toBe(409);
    expect((await statusOf(deployment))[1]).toBe('SKIPPED');

    await waitFor(async () => (await other.connect()).status === 200, { what: 'the lease' });
    expect((await former.desired()).status).toBe(409);
    expect((await other.desired()).status).toBe(200);
  });

  it('is measured by its data plane, whose reports about others are ignored', async () => {
    const [mine, other] = [await listenerOf('process'), await listenerOf('process')];
    const dataPlane = await DataPlane.connected(mine);
    const [{ body: own }, { body: foreign }] = [await deploy(mine), await deploy(other)];
    const point = { ...NOTHING_MEASURED, time: new Date().toISOString(), pending_runs: 7 };
    const samples = [own, foreign].map(({ id }) => ({ deployment_id: id, point }));
    // The answer was lost, so the data plane reports again.
    for (const _ of [1, 2]) expect((await dataPlane.say('metrics', { samples })).status).toBe(204);
    const pointsOf = async ({ id }: Deployment) =>
      (await platform.call<DeploymentMetrics>('GET', `/v2/deployments/${id}/metrics`)).body.points;
    expect(await pointsOf(own)).toEqual([point]);
    expect(await pointsOf(foreign)).toEqual([]);
  });

  it('shows the log lines that its data plane reports: once, in order, and nothing of others', async () => {
    const [mine, other] = [await listenerOf('process'), await listenerOf('process')];
    const [dataPlane, stranger] = [await DataPlane.connected(mine), await DataPlane.connected(other)];
    const { body: deployment } = await deploy(mine);
    const revision_id = deployment.latest_revision_id!;
    const line = (digit: number, more: object = {}) => ({
      id: `0192f7a0-3c1e-7000-8000-00000000000${digit}`,
      level: 'INFO',
      message: `line ${digit}`,
      source: 'run-worker',
      ...more,
    });
    const [one, two, three] = [line(1), line(2, { run_id: unknownId, fields: { from: 'project' } }), line(3)];
    const file = { revision_id, type: 'deploy', first_id: one.id };
    const say = (after: string | null, entries: object[], by = dataPlane) =>
      by.say('logs', { ...file, after, entries }) as Promise<Answer<{ last_id: string | null }>>;

    expect(await say(null, [])).toEqual({ status: 200, body: { last_id: null } });
    expect((await say(null, [one, two])).body).toEqual({ last_id: two.id });
    // The answer was lost; later a report leaves lines out.
    expect((await say(null, [one, two])).body).toEqual({ last_id: two.id });
    expect((await say(three.id, [line(4)])).body).toEqual({ last_id: two.id });
    expect((await say(two.id, [three])).body).toEqual({ last_id: three.id });

    const path = `/v2/deployments/${deployment.id}/revisions/${revision_id}/logs?type=deploy`;
    const { logs } = (await platform.call<LogPage>('GET', path)).body;
    const timestamp = 0x0192f7a03c1e;
    expect(logs).toEqual([one, two, three].map((each) => ({ ...each, timestamp, revision_id })));
    const followed = await platform.call<LogPage>('POST', `/v1/projects/${deployment.id}/deploy_logs`, { body: {} });
    expect(followed.body.logs).toEqual(logs);

    expect((await say(three.id, [two])).status).toBe(422);
    expect((await say(three.id, [{ ...line(4), id: '../../4' }])).status).toBe(422);
    expect((await say(null, [], stranger)).status).toBe(404);
    const former = Object.assign(new DataPlane(mine), { epoch: dataPlane.epoch });
    await dataPlane.connect();
    expect((await say(three.id, [line(4)], former)).status).toBe(409);

    const folder = join(platform.folder, 'logs', deployment.id);
    expect(existsSync(folder)).toBe(true);
    await platform.call('DELETE', `/v2/deployments/${deployment.id}`);
    await dataPlane.reportDeployment(deployment.id, 'DELETED');
    expect(existsSync(folder)).toBe(false);
  });

  it('is pulled by its data plane with a token for its image only, and by no other data plane', async () => {
    const [mine, other] = [await listenerOf('docker'), await listenerOf('docker')];
    const [dataPlane, stranger] = [await DataPlane.connected(mine), await DataPlane.connected(other)];
    const { body: deployment } = await platform.create({
      source: 'internal_docker',
      source_config: { listener_id: mine.id },
    });
    const { id } = deployment;
    const pushed = await platform.call<PushToken>('POST', `/v2/deployments/${id}/push-token`);
    const push = new ImageClient(platform.registryUrl, pushed.body.token);
    for (const name of ['agent', 'other']) await push.pushImage(`registry/${id}/${name}`, 'v1');
    const image_uri = `${pushed.body.registry_url}/agent:v1`;
    const body = { source_revision_config: { image_uri } };
    expect((await platform.call('PATCH', `/v2/deployments/${id}`, { body })).status).toBe(200);
    expect((await dataPlane.desired()).body.deployments[0]?.revisions.at(-1)?.image).toEqual({ uri: image_uri });

    const ask = (wanted: object, by = dataPlane, of = id) =>
      by.say(`deployments/${of}/pull-token`, { image_uri, lifetime_seconds: 60, ...wanted }) as Promise<
        Answer<PullToken>
      >;
    const { status, body: given } = await ask({});
    expect({ status, given }).toMatchObject({ status: 200, given: { registry_host: 'agents.example.com' } });
    const pull = new ImageClient(platform.registryUrl, given.token);
    expect((await pull.send('GET', `/v2/registry/${id}/agent/manifests/v1`)).status).toBe(200);
    expect((await pull.send('GET', `/v2/registry/${id}/other/manifests/v1`)).status).toBe(403);
    expect((await pull.send('GET', '/v2/_catalog')).status).toBe(403);
    expect((await pull.send('POST', `/v2/registry/${id}/agent/blobs/uploads/`)).status).toBe(403);

    expect((await ask({}, stranger)).status).toBe(404);
    expect((await ask({}, dataPlane, unknownId)).status).toBe(404);
    for (const elsewhere of ['registry.example.com/agent:v1', `agents.example.com/registry/${unknownId}/agent:v1`]) {
      expect((await ask({ image_uri: elsewhere })).status).toBe(404);
    }
    expect((await ask({ lifetime_seconds: 31_536_000 })).status).toBe(422);
    expect((await ask({ epoch: dataPlane.epoch + 1 })).status).toBe(409);
  });

  it('verifies the keys of its callers through its data plane, and not through another one', async () => {
    const [mine, other] = [await listenerOf('process'), await listenerOf('process')];
    const dataPlane = await DataPlane.connected(mine);
    const { body: foreign } = await deploy(other);
    const check = (audience: string) => dataPlane.say('callers', { key: 'lsv2_sk_a', audience });
    expect((await check(`deployment:${foreign.id}`)).status).toBe(404);
    expect((await check('control-plane')).status).toBe(422);
    // The fake org-access knows no keys.
    expect((await check('gateway')).status).toBe(503);
    const keySet = await platform.call<{ keys: unknown[] }>('GET', `/v2/listeners/${mine.id}/key-set`);
    expect(keySet.body.keys).toHaveLength(1);
  });

  it('is shown to a data plane with a key of the listener, which is valid for nothing else', async () => {
    const [mine, other] = [await listenerOf('process'), await listenerOf('process')];
    const keysPath = `/v2/listeners/${mine.id}/keys`;
    const newKey = async (body?: object) => {
      const answer = await platform.call<ListenerKeyCreated>('POST', keysPath, { ...(body && { body }) });
      expect(answer.status).toBe(201);
      return answer.body;
    };
    const showing = (key: string) => ({
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    const lease = (key: string, listener = mine) =>
      platform.call<DataPlaneLease>('POST', `/v2/listeners/${listener.id}/lease`, {
        ...showing(key),
        body: { instance_id: unknownId },
      });
    const first = await newKey();
    expect(await platform.dump()).not.toContain(first.key);
    const { body: deployment } = await deploy(mine, { secrets: [{ name: 'MODEL_KEY', value: 'very secret' }] });
    const { epoch } = (await lease(first.key)).body;
    const desired = `/v2/listeners/${mine.id}/desired-state?epoch=${epoch}`;
    const { body: state } = await platform.call<ListenerDesiredState>('GET', desired, showing(first.key));
    expect(state.deployments).toMatchObject([
      {
        id: deployment.id,
        revisions: [{ secrets: [{ value: 'very secret' }, tokens.variableOf(deployment.id), KEYS] }],
      },
    ]);

    const statuses = [
      lease(first.key, other),
      ...['/v2/deployments', keysPath, `/v2/listeners/${mine.id}`].map((path) =>
        platform.call('GET', path, showing(first.key)),
      ),
    ];
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect((await platform.call('POST', keysPath, showing(first.key))).status).toBe(403);
    const as = { permissions: ['deployments:read'] };
    expect((await platform.call('POST', keysPath, { as })).status).toBe(403);
    expect((await platform.call('POST', keysPath, { as: { workspace_id: OTHER_WORKSPACE } })).status).toBe(404);

    const second = await newKey({ keep_former_seconds: 60 });
    expect([(await lease(first.key)).status, (await lease(second.key)).status]).toEqual([200, 200]);
    const { key, ...third } = await newKey();
    expect([(await lease(first.key)).status, (await lease(second.key)).status]).toEqual([401, 401]);
    expect((await platform.call('GET', keysPath)).body).toEqual({ resources: [third] });
    expect((await lease(key)).status).toBe(200);
    expect((await platform.call('DELETE', `${keysPath}/${third.id}`)).status).toBe(204);
    expect((await lease(key)).status).toBe(401);
    expect((await platform.call('DELETE', `${keysPath}/${third.id}`)).status).toBe(404);
  });

  it('shows its secrets to no data plane whose key may not read them', async () => {
    const listener = await listenerOf('process');
    const { epoch } = await DataPlane.connected(listener);
    const as = { permissions: ALL_PERMISSIONS.filter((each) => each !== 'deployments:update') };
    const answer = await platform.call('GET', `/v2/listeners/${listener.id}/desired-state?epoch=${epoch}`, { as });
    expect(answer.status).toBe(403);
  });
});
