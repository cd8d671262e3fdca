import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Deployment, DeploymentList, Listener, LogPage, PushToken, Revision } from '@runyard/contracts';
import { ImageClient, waitFor } from '@runyard/test-kit';
import { BaseRegistry, LOGIN, tarOf } from '@runyard/test-kit/base-registry';
import { PROJECT } from '@runyard/test-kit/built-project';
import { FakeCluster, grantedRules, NAMESPACE } from '@runyard/test-kit/fake-cluster';
import { AGENT } from '@runyard/test-kit/fake-engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dropDatabases } from './support/drop-databases.ts';
import { TestPlatform } from './support/platform.ts';
import { TestDataPlane } from './support/remote-data-plane.ts';
import { createEmpty, deploy } from './support/sources.ts';

let base: BaseRegistry;
let cluster: FakeCluster;
let platform: TestPlatform;
let dataPlane: TestDataPlane;
let listener: Listener;
beforeAll(async () => {
  const originOf = (host: string) => (host === 'agents.example.com' ? platform.registryUrl : undefined);
  [base, cluster] = await Promise.all([
    BaseRegistry.start(),
    grantedRules().then((rules) => FakeCluster.start(AGENT, rules, originOf)),
  ]);
  const env = {
    LISTENER_LEASE_SECONDS: '3',
    PROJECT_BASE_IMAGE: base.image,
    PROJECT_BASE_IMAGE_USERNAME: LOGIN.username,
    PROJECT_BASE_IMAGE_PASSWORD: LOGIN.password,
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
  };
  platform = await TestPlatform.start(env, { hasRegistry: true, hasDataPlane: false });
  const compute_config = { k8s_namespaces: [NAMESPACE] };
  const body = { compute_type: 'k8s', compute_id: 'a cluster elsewhere', compute_config };
  listener = (await platform.call<Listener>('POST', '/v2/listeners', { body })).body;
  const KUBECONFIG = join(platform.folder, 'kubeconfig');
  await writeFile(KUBECONFIG, cluster.kubeConfigFile());
  const PLATFORM_JWKS_URL = 'https://keys.example.com/jwks.json';
  dataPlane = await TestDataPlane.of(platform, listener, {
    DRIVER: 'kubernetes',
    KUBECONFIG,
    KUBERNETES_NAMESPACE: NAMESPACE,
    PLATFORM_JWKS_URL,
  });
  await dataPlane.start();
});
afterAll(async () => {
  await dataPlane?.close();
  if (platform) {
    // After a failed test no data plane is left to delete these databases.
    const { body } = await platform.call<DeploymentList>('GET', '/v2/deployments?limit=100');
    await dropDatabases(
      platform.database.url,
      body.resources.map(({ id }) => id),
    );
    await platform.close();
  }
  await cluster?.close();
  await base?.close();
});

const podsOf = (id: string) =>
  cluster.objects('pods').filter(({ metadata }) => metadata.labels?.['io.runyard.deployment'] === id);
const imagesOf = (id: string) => podsOf(id).map(({ spec }) => spec.containers[0].image as string);
const upstreamOf = (id: string) =>
  waitFor(async () => (await dataPlane.routeOf({ id }))?.upstreams[0], { what: `an upstream of ${id}` });
const run = async (id: string) => (await fetch(`${await upstreamOf(id)}/project`)).json();
const statusOf = async (id: string, revisionId: string) =>
  (await platform.call<Revision>('GET', `/v2/deployments/${id}/revisions/${revisionId}`)).body.status;
const untilSilent = (id: string) =>
  waitFor(async () => (await platform.get(id)).body.status === 'UNKNOWN', { what: 'silence' });
/** Each build under way has a home of its own. */
const homesOfBuilds = () => readdir(join(platform.builder.folder, 'builds')).catch(() => []);
const deleted = async (id: string) => {
  expect((await platform.call('DELETE', `/v2/deployments/${id}`)).status).toBe(204);
  await waitFor(async () => (await platform.get(id)).status === 404, {
    what: 'the end of the deployment',
  });
};

describe('a project of a remote data plane', () => {
  let id: string;

  it('is built by the platform, and runs there from the image that the platform has made of it', async () => {
    ({ id } = await createEmpty(platform, { source_config: { listener_id: listener.id } }));
    const { body } = await deploy(platform, id);
    const revisionId = body.latest_revision_id!;
    await platform.untilStatus(id, revisionId, 'DEPLOYED');
    expect(await run(id)).toEqual({ text: 'hello' });
    const [image, other] = imagesOf(id);
    expect(image).toMatch(new RegExp(`^agents\\.example\\.com/registry/${id}/runyard-project@sha256:[0-9a-f]{64}$`));
    expect(other).toBe(image);
    const log = { body: { query: 'Made the image' } };
    const path = `/v1/projects/${id}/revisions/${revisionId}/build_logs`;
    expect((await platform.call<LogPage>('POST', path, log)).body.logs).toHaveLength(1);

    const [secret] = cluster.objects('secrets').filter(({ type }) => type === 'kubernetes.io/dockerconfigjson');
    const { auths } = JSON.parse(Buffer.from(secret!.data['.dockerconfigjson'], 'base64').toString());
    const { password } = auths['agents.example.com'];
    expect(JSON.stringify(cluster.objects('pods'))).not.toContain(password);
    const started = await (await fetch(`${await upstreamOf(id)}/started-with`)).text();
    expect(started).not.toContain(password);
  });

  it('keeps the running revision when its build fails, and reports why', async () => {
    const before = imagesOf(id);
    const { body } = await deploy(platform, id, { install_command: 'echo no such package; exit 4' });
    const failed = await platform.untilStatus(id, body.latest_revision_id!, 'BUILD_FAILED');
    expect(failed.status_message).toMatch(/ended with code 4/);
    expect(imagesOf(id)).toEqual(before);
  });

  it('stops building when its revision is interrupted', async () => {
    const { body } = await deploy(platform, id, { build_command: 'sleep 600' });
    const revisionId = body.latest_revision_id!;
    await platform.untilStatus(id, revisionId, 'BUILDING');
    await waitFor(async () => (await homesOfBuilds()).length > 0, { what: 'a build' });
    const path = `/v2/deployments/${id}/revisions/${revisionId}/interrupt`;
    expect((await platform.call('POST', path)).status).toBe(200);
    await waitFor(async () => (await homesOfBuilds()).length === 0, { what: 'the end of the build' });
    expect(await statusOf(id, revisionId)).toBe('INTERRUPTED');
  });

  it('is built while its data plane is cut off, which restarts with what it ran and then continues with the new image', async () => {
    const before = imagesOf(id);
    const gate = join(platform.folder, 'gate');
    await promisify(execFile)('mkfifo', [gate]);
    const files = { ...PROJECT, 'agent.mjs': PROJECT['agent.mjs'].replace("'hello'", "'hello again'") };
    const { body } = await deploy(platform, id, { files, build_command: `read line < ${gate}` });
    const revisionId = body.latest_revision_id!;
    await platform.untilStatus(id, revisionId, 'BUILDING');
    await dataPlane.line.refuse();
    await dataPlane.kill();
    await Promise.all([untilSilent(id), dataPlane.start()]);
    await waitFor(() => dataPlane.service.output().includes('active revision restarted'), {
      what: 'the deployment in new hands',
    });
    expect(imagesOf(id)).toEqual(before);
    expect(await statusOf(id, revisionId), 'the platform knows what it builds itself').toBe('BUILDING');

    await writeFile(gate, 'go on\n');
    await waitFor(async () => (await statusOf(id, revisionId)) !== 'BUILDING', { what: 'the end of the build' });
    await dataPlane.line.heal();
    await platform.untilStatus(id, revisionId, 'DEPLOYED');
    await waitFor(async () => ((await run(id)) as { text: string }).text === 'hello again', {
      what: 'the new revision in the route',
    });
  });

  it('leaves nothing on the platform and in the cluster when its deployment is deleted', async () => {
    await deleted(id);
    expect(podsOf(id)).toEqual([]);
    const { folder } = platform;
    for (const kept of ['artifacts', 'objects/deployments', 'objects/registry', 'logs']) {
      expect(existsSync(join(folder, kept, id)), kept).toBe(false);
    }
    expect(await homesOfBuilds()).toEqual([]);
  });
});

it('an image that was pushed to the platform runs at a remote data plane', async () => {
  const source = { source: 'internal_docker', source_config: { listener_id: listener.id } };
  const { id } = (await platform.create(source)).body;
  const { token, registry_url } = (await platform.call<PushToken>('POST', `/v2/deployments/${id}/push-token`)).body;
  const config = { architecture: 'amd64', os: 'linux', config: { Env: [], WorkingDir: '/' } };
  const push = new ImageClient(platform.registryUrl, token);
  const layer = gzipSync(tarOf('app/main.js'));
  const digest = await push.pushImage(`registry/${id}/agent`, 'v1', layer, Buffer.from(JSON.stringify(config)));
  const body = { source_revision_config: { image_uri: `${registry_url}/agent@${digest}` } };
  const patched = await platform.call<Deployment>('PATCH', `/v2/deployments/${id}`, { body });
  await platform.untilStatus(id, patched.body.latest_revision_id!, 'DEPLOYED');
  expect((await fetch(`${await upstreamOf(id)}/ok`)).status).toBe(200);
  await deleted(id);
});
