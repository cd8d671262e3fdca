import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deployment, DeploymentList, Listener, LogPage } from '@runyard/contracts';
import { DeploymentTokens } from '@runyard/deployments';
import { waitFor } from '@runyard/test-kit';
import { FakeCluster, grantedRules } from '@runyard/test-kit/fake-cluster';
import { AGENT } from '@runyard/test-kit/fake-engine';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { dropDatabases } from './support/drop-databases.ts';
import { TestPlatform } from './support/platform.ts';
import { TestDataPlane } from './support/remote-data-plane.ts';

let platform: TestPlatform;
const dataPlanes: TestDataPlane[] = [];
beforeAll(async () => {
  platform = await TestPlatform.start({ LISTENER_LEASE_SECONDS: '3' }, { hasDataPlane: false });
});
afterEach(async () => {
  await Promise.all(dataPlanes.splice(0).map((each) => each.close()));
  // No data plane is left to delete these databases.
  const { body } = await platform.call<DeploymentList>('GET', '/v2/deployments?limit=100');
  await dropDatabases(
    platform.database.url,
    body.resources.map(({ id }) => id),
  );
});
afterAll(() => platform.close());

async function newListener(namespaces?: string[]): Promise<Listener> {
  const compute = namespaces
    ? { compute_type: 'k8s', compute_config: { k8s_namespaces: namespaces } }
    : { compute_type: 'process', compute_config: {} };
  const body = { ...compute, compute_id: randomBytes(4).toString('hex') };
  return (await platform.call<Listener>('POST', '/v2/listeners', { body })).body;
}
async function dataPlaneOf(listener: Listener, environment?: Record<string, string>): Promise<TestDataPlane> {
  const dataPlane = await TestDataPlane.of(platform, listener, environment);
  dataPlanes.push(dataPlane);
  return dataPlane;
}
async function runningDataPlane(): Promise<TestDataPlane> {
  const dataPlane = await dataPlaneOf(await newListener());
  await dataPlane.start();
  return dataPlane;
}
const deployedTo = ({ listener }: TestDataPlane, value = 'one', others: Record<string, string> = {}) =>
  platform.createHealthy({
    source_config: { project_path: platform.projectDir, listener_id: listener.id },
    secrets: Object.entries({ GREETING: value, ...others }).map(([name, text]) => ({ name, value: text })),
  });
const patch = async ({ id }: Deployment, secrets: { name: string; value: string }[]): Promise<Deployment> =>
  (await platform.call<Deployment>('PATCH', `/v2/deployments/${id}`, { body: { secrets } })).body;
const untilIs = (status: string, { id }: Deployment) =>
  waitFor(async () => (await platform.get(id)).body.status === status, {
    what: `the deployment being ${status}`,
  });
async function printed({ id }: Deployment, query: string): Promise<LogPage['logs']> {
  const { body } = await platform.call<LogPage>('POST', `/v1/projects/${id}/deploy_logs`, { body: { query } });
  return body.logs;
}
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}/exe`);

describe('a remote data plane', () => {
  it('runs its deployments, keeps them running without the platform, and then applies the changes made meanwhile', async () => {
    const dataPlane = await runningDataPlane();
    const deployment = await deployedTo(dataPlane);
    const { pid, own } = await dataPlane.startedWith(deployment);
    const token = new DeploymentTokens(platform.encryptionKey).variableOf(deployment.id);
    expect(own).toEqual({
      GREETING: 'one',
      [token.name]: token.value,
      RUNYARD_DEPLOYMENT_KEYS: expect.stringMatching(/^.{44},.{44}$/),
    });
    expect(await platform.routeOf(deployment.id)).toMatchObject({ upstreams: [] });

    await dataPlane.line.refuse();
    await untilIs('UNKNOWN', deployment);
    expect((await dataPlane.startedWith(deployment)).pid).toBe(pid);
    const patched = await patch(deployment, [{ name: 'GREETING', value: 'two' }]);

    await dataPlane.line.heal();
    await platform.untilStatus(deployment.id, patched.latest_revision_id!, 'DEPLOYED');
    expect((await platform.get(deployment.id)).body).toMatchObject({
      status: 'READY',
      active_revision_id: patched.latest_revision_id,
    });
    // The data plane turns to it when it has heard that the platform agrees.
    const now = await waitFor(
      async () => {
        const { pid: found, own: given } = await dataPlane.startedWith(deployment);
        return found === pid ? undefined : { pid: found, own: given };
      },
      { what: 'the new revision at the data plane' },
    );
    expect(now.own).toMatchObject({ GREETING: 'two' });

    expect((await platform.call('DELETE', `/v2/deployments/${deployment.id}`)).status).toBe(204);
    await waitFor(async () => (await platform.get(deployment.id)).status === 404, {
      what: 'the end of the deployment',
    });
    expect([isAlive(pid), isAlive(now.pid)]).toEqual([false, false]);
  });

  it('that fails to start a revision reports why, and keeps the one before', async () => {
    const dataPlane = await runningDataPlane();
    const deployment = await deployedTo(dataPlane);
    const { pid } = await dataPlane.startedWith(deployment);
    const patched = await patch(deployment, [{ name: 'FAIL_WITH', value: 'a wrong model' }]);
    const path = `/v2/deployments/${deployment.id}/revisions/${patched.latest_revision_id}`;
    const failed = await waitFor(
      async () => {
        const { body } = await platform.call<{ status: string; status_message: string }>('GET', path);
        return body.status === 'DEPLOY_FAILED' ? body : null;
      },
      { what: 'a failure' },
    );
    expect(failed.status_message).toContain('cannot load the graph');
    const [line] = await waitFor(
      async () => {
        const lines = await printed(deployment, 'cannot load');
        return lines.length > 0 && lines;
      },
      { what: 'what it printed' },
    );
    expect(line).toMatchObject({ message: 'cannot load the graph: ***', revision_id: patched.latest_revision_id });
    expect((await dataPlane.startedWith(deployment)).pid).toBe(pid);

    const outside = await platform.create({ source_config: { project_path: '/', listener_id: dataPlane.listener.id } });
    const { id, latest_revision_id } = outside.body;
    const refused = platform.untilStatus(id, latest_revision_id!, 'DEPLOYED');
    await expect(refused).rejects.toThrow('DEPLOY_FAILED');
  });

  it('that is killed while the platform is unreachable starts by itself with what it ran', async () => {
    const dataPlane = await runningDataPlane();
    const deployment = await deployedTo(dataPlane, 'one', { MOUNT_PREFIX: '/agents' });
    const { pid } = await dataPlane.startedWith(deployment);
    expect(await dataPlane.routeOf(deployment)).toMatchObject({ mount_prefix: '/agents' });
    await dataPlane.line.refuse();
    await dataPlane.kill();
    await waitFor(() => !isAlive(pid), { what: `the end of process ${pid}` });

    await dataPlane.start();
    const again = await dataPlane.startedWith(deployment);
    expect(again).toMatchObject({ own: { GREETING: 'one' } });
    expect(await dataPlane.routeOf(deployment)).toMatchObject({ mount_prefix: '/agents' });
    await dataPlane.line.heal();
    await untilIs('READY', deployment);
    expect((await dataPlane.startedWith(deployment)).pid).toBe(again.pid);
    await waitFor(async () => (await printed(deployment, 'fake agent of')).length === 4, {
      what: 'what both processes printed when they started, and again',
    });
  });

  it('whose key is refused gets no changes, and gets them again with a valid one', async () => {
    const dataPlane = await runningDataPlane();
    const deployment = await deployedTo(dataPlane);
    dataPlane.isKeyGood = false;
    await untilIs('UNKNOWN', deployment);
    dataPlane.isKeyGood = true;
    await untilIs('READY', deployment);
  });

  it('ends its deployments when another one takes the lease of its listener', async () => {
    const former = await runningDataPlane();
    const deployment = await deployedTo(former);
    const { pid } = await former.startedWith(deployment);
    const successor = await dataPlaneOf(former.listener);
    await former.line.refuse();
    await untilIs('UNKNOWN', deployment);

    await successor.start();
    expect((await successor.startedWith(deployment)).pid).not.toBe(pid);
    await former.line.heal();
    expect(await former.service.exited).toMatchObject({ code: 0 });
    expect(isAlive(pid)).toBe(false);
    expect(former.service.output()).not.toContain('the key of the workspace');
    await untilIs('READY', deployment);
  });

  it('of a cluster runs images in the namespace they name, keeps them running without itself, and removes them with their deployment', async () => {
    const cluster = await FakeCluster.start(AGENT, await grantedRules());
    try {
      const KUBECONFIG = join(platform.folder, 'kubeconfig');
      await writeFile(KUBECONFIG, cluster.kubeConfigFile());
      const listener = await newListener(['agents', 'agents-test']);
      const PLATFORM_JWKS_URL = 'https://keys.example.com/jwks.json';
      const environment = { DRIVER: 'kubernetes', KUBECONFIG, KUBERNETES_NAMESPACE: 'elsewhere', PLATFORM_JWKS_URL };
      const dataPlane = await dataPlaneOf(listener, environment);
      await dataPlane.start();
      const deployment = await platform.createHealthy({
        source: 'external_docker',
        source_config: { listener_id: listener.id, listener_config: { k8s_namespace: 'agents-test' } },
        source_revision_config: { image_uri: 'registry.example.com/agent:v1' },
      });
      const pods = () => cluster.objects('pods').map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);
      const before = pods();
      expect(before).toHaveLength(2);
      expect(before.every((pod) => pod.startsWith('agents-test/'))).toBe(true);
      // A revision is healthy a moment before its pods are in the route.
      await waitFor(() => dataPlane.service.output().includes('deployment upstreams changed'), {
        what: 'the route on disk',
      });
      const { upstreams } = (await dataPlane.routeOf(deployment))!;
      expect(upstreams).not.toEqual([]);

      await dataPlane.kill();
      await dataPlane.start();
      expect((await dataPlane.routeOf(deployment))!.upstreams, 'its route stays meanwhile').toEqual(upstreams);
      await waitFor(() => dataPlane.service.output().includes('active revision restarted'), {
        what: 'the deployment in new hands',
      });
      expect(pods()).toEqual(before);

      await platform.call('DELETE', `/v2/deployments/${deployment.id}`);
      await waitFor(async () => (await platform.get(deployment.id)).status === 404, {
        what: 'the end of the deployment',
      });
      expect(pods()).toEqual([]);
    } finally {
      await cluster.close();
    }
  });
});
