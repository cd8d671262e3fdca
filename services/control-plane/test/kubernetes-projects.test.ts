import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Deployment } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { BaseRegistry, LOGIN } from '@runyard/test-kit/base-registry';
import { LINK_PACKAGES, PROJECT } from '@runyard/test-kit/built-project';
import { FakeCluster, grantedRules, NAMESPACE } from '@runyard/test-kit/fake-cluster';
import { AGENT } from '@runyard/test-kit/fake-engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';
import { createEmpty, deploy } from './support/sources.ts';

let base: BaseRegistry;
let cluster: FakeCluster;
let platform: TestPlatform;
let folder: string;
beforeAll(async () => {
  const originOf = (host: string) => (host === 'agents.example.com' ? platform.registryUrl : undefined);
  [base, cluster, folder] = await Promise.all([
    BaseRegistry.start(),
    grantedRules().then((rules) => FakeCluster.start(AGENT, rules, originOf)),
    mkdtemp(join(tmpdir(), 'runyard-kubeconfig-')),
  ]);
  await writeFile(join(folder, 'config'), cluster.kubeConfigFile());
  platform = await TestPlatform.start(
    {
      DRIVER: 'kubernetes',
      KUBERNETES_NAMESPACE: NAMESPACE,
      KUBECONFIG: join(folder, 'config'),
      PROJECT_BASE_IMAGE: base.image,
      PROJECT_BASE_IMAGE_USERNAME: LOGIN.username,
      PROJECT_BASE_IMAGE_PASSWORD: LOGIN.password,
      OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
    },
    { hasOwnProcess: true, hasRegistry: true },
  );
});
afterAll(async () => {
  await platform?.close();
  await cluster?.close();
  await base?.close();
  await rm(folder, { recursive: true, force: true });
});

const podsOf = (id: string) =>
  cluster.objects('pods').filter(({ metadata }) => metadata.labels?.['io.runyard.deployment'] === id);
const imagesOf = (id: string) => podsOf(id).map(({ spec }) => spec.containers[0].image as string);
const pods = () =>
  cluster
    .objects('pods')
    .map(({ metadata }) => metadata.name)
    .sort();
const run = async (id: string) => (await fetch(`${await platform.upstreamOf(id)}/project`)).json();

/** Waits until the restarted control plane supervises both deployments. */
const untilAdopted = () =>
  waitFor(() => platform.dataPlane.service.output().split('active revision restarted').length > 2, {
    what: 'the deployments in new hands',
  });

// The restarts of the control plane are those of both deployments. The tests go on with them, in this order.
describe('an image and a project that are deployed to a cluster', () => {
  let image: string;
  let upstream: string;
  let project: string;
  let before: string[];

  it('run there: the image', async () => {
    const source_revision_config = { image_uri: 'registry.example.com/agent:v1' };
    const { body } = await platform.create({ source: 'external_docker', source_config: {}, source_revision_config });
    image = body.id;
    await platform.untilStatus(image, body.latest_revision_id!, 'DEPLOYED');
    upstream = await platform.upstreamOf(image);
    expect((await fetch(`${upstream}/ok`)).status).toBe(200);
    expect(pods()).toHaveLength(2);
  });

  it('run there: the project, from an image that the platform has made of it', async () => {
    const { id } = await createEmpty(platform);
    project = id;
    const { body } = await deploy(platform, id);
    await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');
    const [made, other] = imagesOf(id);
    expect(made).toMatch(new RegExp(`^agents\\.example\\.com/registry/${id}/runyard-project@sha256:[0-9a-f]{64}$`));
    expect(other).toBe(made);
    expect(podsOf(id)[0]?.spec.nodeSelector).toEqual({
      'kubernetes.io/arch': process.arch === 'x64' ? 'amd64' : process.arch,
    });
    expect(await run(id)).toEqual({ text: 'hello' });
    before = pods();
    expect(before).toHaveLength(4);
  });

  it("keep running while their control plane is killed and the build's disk is lost, and the next one takes them over", async () => {
    const images = imagesOf(project);
    await platform.kill();
    await rm(join(platform.builder.folder, 'build-caches'), { recursive: true, force: true });
    expect((await fetch(`${upstream}/ok`)).status).toBe(200);
    await platform.startService();
    expect(await platform.upstreamOf(image), 'its route stays meanwhile').toBe(upstream);
    await untilAdopted();
    expect([pods(), await platform.upstreamOf(image)]).toEqual([before, upstream]);
    expect(imagesOf(project)).toEqual(images);
    expect(await run(project)).toEqual({ text: 'hello' });
  });

  it('keep running while their control plane is stopped', async () => {
    await platform.stopService();
    expect(pods()).toEqual(before);
    await platform.startService();
    await untilAdopted();
    expect([pods(), await platform.upstreamOf(image)]).toEqual([before, upstream]);
  });

  it('are replaced: the project by the image of its next revision', async () => {
    const [first] = imagesOf(project);
    const files = { ...PROJECT, 'agent.mjs': PROJECT['agent.mjs'].replace("'hello'", "'hello again'") };
    const { body } = await deploy(platform, project, { files });
    await platform.untilStatus(project, body.latest_revision_id!, 'DEPLOYED');
    // The revision has two pods of its own. Those of its predecessor may still be ending.
    expect(imagesOf(project).filter((made) => made !== first)).toHaveLength(2);
    expect(await run(project)).toEqual({ text: 'hello again' });
  });

  it('leave nothing in the cluster when they are deleted', async () => {
    for (const id of [image, project]) {
      expect((await platform.call('DELETE', `/v2/deployments/${id}`)).status).toBe(204);
      expect(podsOf(id)).toEqual([]);
    }
    expect([...cluster.objects('pods'), ...cluster.objects('secrets'), ...cluster.objects('deployments')]).toEqual([]);
  });
});

it("a folder of the control plane's machine runs as an image too, without a build", async () => {
  const project_path = await platform.makeProject('local', { graphs: { agent: './agent.mjs:graph' } });
  await writeFile(join(project_path, 'agent.mjs'), 'export const graph = { invoke: async () => ({ text: "local" }) };');
  const { id } = await platform.createHealthy({ source_config: { project_path } });
  expect(await run(id)).toEqual({ text: 'local' });
  expect(imagesOf(id)[0]).toContain('runyard-project@');
});

it('a build fails with the reason when the base image cannot be read', async () => {
  base.publish({ labels: {} });
  const { id } = await createEmpty(platform);
  const { body } = await deploy(platform, id, { install_command: LINK_PACKAGES });
  const { latest_revision_id: revisionId } = body as Deployment;
  const revision = await platform.untilStatus(id, revisionId!, 'BUILD_FAILED');
  expect(revision.status_message).toMatch(/is not runyard\/agent-server/);
  base.publish();
});
