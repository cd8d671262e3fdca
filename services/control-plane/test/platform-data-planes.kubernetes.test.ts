import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from '@runyard/test-kit';
import { BaseRegistry, LOGIN } from '@runyard/test-kit/base-registry';
import { FakeCluster, grantedRules, NAMESPACE } from '@runyard/test-kit/fake-cluster';
import { AGENT } from '@runyard/test-kit/fake-engine';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';
import { TestDataPlane } from './support/remote-data-plane.ts';

let base: BaseRegistry;
let cluster: FakeCluster;
let platform: TestPlatform;
let environment: Record<string, string>;
const dataPlanes: TestDataPlane[] = [];
beforeAll(async () => {
  const originOf = (host: string) => (host === 'agents.example.com' ? platform.registryUrl : undefined);
  [base, cluster] = await Promise.all([
    BaseRegistry.start(),
    grantedRules().then((rules) => FakeCluster.start(AGENT, rules, originOf)),
  ]);
  // Control-plane has neither the cluster nor the server of the databases.
  const env = {
    DRIVER: 'kubernetes',
    PROJECT_BASE_IMAGE: base.image,
    PROJECT_BASE_IMAGE_USERNAME: LOGIN.username,
    PROJECT_BASE_IMAGE_PASSWORD: LOGIN.password,
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
  };
  platform = await TestPlatform.start(env, { hasRegistry: true, hasDataPlane: false });
  const KUBECONFIG = join(platform.folder, 'kubeconfig');
  await writeFile(KUBECONFIG, cluster.kubeConfigFile());
  environment = { DRIVER: 'kubernetes', KUBECONFIG, KUBERNETES_NAMESPACE: NAMESPACE };
  await startDataPlane();
});
afterAll(async () => {
  await platform?.deleteAll();
  await Promise.all(dataPlanes.map((each) => each.close()));
  await platform?.close();
  await cluster?.close();
  await base?.close();
});

async function startDataPlane(): Promise<TestDataPlane> {
  const dataPlane = await TestDataPlane.ofPlatform(platform, { environment });
  dataPlanes.push(dataPlane);
  await dataPlane.start();
  return dataPlane;
}

const pods = () =>
  cluster
    .objects('pods')
    .map(({ metadata }) => metadata.name)
    .sort();

it('an image and a folder run as pods, go on when their data plane is killed, and another takes them over as they are', async () => {
  const image = await platform.createHealthy({
    source: 'external_docker',
    source_config: {},
    source_revision_config: { image_uri: 'registry.example.com/agent:v1' },
  });
  const folder = await platform.createHealthy();
  const before = pods();
  expect(before).toHaveLength(4);
  const upstreams = await Promise.all([image, folder].map(({ id }) => platform.upstreamOf(id)));

  await dataPlanes[0]!.kill();
  const successor = await startDataPlane();
  await waitFor(() => successor.service.output().split('active revision restarted').length > 2, {
    what: 'the deployments in new hands',
  });
  expect(pods()).toEqual(before);
  expect(await Promise.all([image, folder].map(({ id }) => platform.upstreamOf(id)))).toEqual(upstreams);

  for (const { id } of [image, folder]) {
    expect((await platform.call('DELETE', `/v2/deployments/${id}`)).status).toBe(204);
    await waitFor(async () => (await platform.get(id)).status === 404, { what: 'the end of the deployment' });
  }
  expect(pods()).toEqual([]);
});
