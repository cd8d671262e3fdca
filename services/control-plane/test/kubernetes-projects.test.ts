import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Deployment } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BaseRegistry, LOGIN } from './support/base-registry.ts';
import { FakeCluster, NAMESPACE } from './support/fake-cluster/fake-cluster.ts';
import { grantedRules } from './support/fake-cluster/granted-rules.ts';
import { AGENT } from './support/fake-engine.ts';
import { TestPlatform } from './support/platform.ts';
import { createEmpty, deploy, LINK_PACKAGES, PROJECT } from './support/sources.ts';

let base: BaseRegistry;
let cluster: FakeCluster;
let platform: TestPlatform;
let folder: string;
beforeAll(async () => {
  const originOf = (host: string) => (host === 'agents.example.com' ? platform.service.url : undefined);
  [base, cluster, folder] = await Promise.all([
    BaseRegistry.start(),
    grantedRules().then((rules) => FakeCluster.start(AGENT, rules, originOf)),
    mkdtemp(join(tmpdir(), 'runyard-kubeconfig-')),
  ]);
  await writeFile(join(folder, 'config'), cluster.kubeConfigFile());
  platform = await TestPlatform.start(
    {
      KUBERNETES_NAMESPACE: NAMESPACE,
      KUBECONFIG: join(folder, 'config'),
      PROJECT_BASE_IMAGE: base.image,
      PROJECT_BASE_IMAGE_USERNAME: LOGIN.username,
      PROJECT_BASE_IMAGE_PASSWORD: LOGIN.password,
      OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
    },
    { hasOwnProcess: true },
  );
});
afterAll(async () => {
  await platform?.close();
  await cluster?.close();
  await base?.close();
  await rm(folder, { recursive: true, force: true });
});

const imagesOf = (id: string) =>
  cluster
    .objects('pods')
    .filter(({ metadata }) => metadata.labels?.['io.runyard.deployment'] === id)
    .map(({ spec }) => spec.containers[0].image as string);
const run = async (id: string) => (await fetch(`${await platform.upstreamOf(id)}/project`)).json();

describe('a project that is deployed to a cluster', () => {
  let id: string;

  it('runs there, from an image that the platform has made of it', async () => {
    ({ id } = await createEmpty(platform));
    const { body } = await deploy(platform, id);
    await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');
    const [image, other] = imagesOf(id);
    expect(image).toMatch(new RegExp(`^agents\\.example\\.com/registry/${id}/runyard-project@sha256:[0-9a-f]{64}$`));
    expect(other).toBe(image);
    const [pod] = cluster.objects('pods');
    expect(pod?.spec.nodeSelector).toEqual({ 'kubernetes.io/arch': process.arch === 'x64' ? 'amd64' : process.arch });
    expect(await run(id)).toEqual({ text: 'hello' });
  });

  it("keeps its image and its pods when its control plane is killed and the build's disk is lost", async () => {
    const before = imagesOf(id);
    await platform.process.stop({ signal: 'SIGKILL' });
    await rm(join(platform.folder, 'artifacts'), { recursive: true, force: true });
    await platform.startService();
    await waitFor(() => platform.service.output().includes('active revision restarted'), {
      what: 'the deployment in new hands',
    });
    expect(imagesOf(id)).toEqual(before);
    expect(await run(id)).toEqual({ text: 'hello' });
  });

  it('is replaced by the image of its next revision', async () => {
    const [before] = imagesOf(id);
    const files = { ...PROJECT, 'agent.mjs': PROJECT['agent.mjs'].replace("'hello'", "'hello again'") };
    const { body } = await deploy(platform, id, { files });
    await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');
    // The revision has two pods of its own. Those of its predecessor may still be ending.
    expect(imagesOf(id).filter((image) => image !== before)).toHaveLength(2);
    expect(await run(id)).toEqual({ text: 'hello again' });
  });

  it('leaves nothing in the cluster when its deployment is deleted', async () => {
    expect((await platform.call('DELETE', `/v2/deployments/${id}`)).status).toBe(204);
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
