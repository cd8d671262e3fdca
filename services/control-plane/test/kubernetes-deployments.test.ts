import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeCluster, NAMESPACE } from './support/fake-cluster/fake-cluster.ts';
import { grantedRules } from './support/fake-cluster/granted-rules.ts';
import { AGENT } from './support/fake-engine.ts';
import { TestPlatform } from './support/platform.ts';

let cluster: FakeCluster;
let platform: TestPlatform;
let folder: string;
beforeAll(async () => {
  cluster = await FakeCluster.start(AGENT, await grantedRules());
  folder = await mkdtemp(join(tmpdir(), 'runyard-kubeconfig-'));
  await writeFile(join(folder, 'config'), cluster.kubeConfigFile());
  platform = await TestPlatform.start(
    { KUBERNETES_NAMESPACE: NAMESPACE, KUBECONFIG: join(folder, 'config') },
    { hasOwnProcess: true },
  );
});
afterAll(async () => {
  await platform?.close();
  await cluster?.close();
  await rm(folder, { recursive: true, force: true });
});

const pods = () =>
  cluster
    .objects('pods')
    .map(({ metadata }) => metadata.name)
    .sort();

/** Waits until the restarted control plane supervises the deployment. */
async function untilAdopted(): Promise<void> {
  await waitFor(() => platform.service.output().includes('active revision restarted'), {
    what: 'the deployment in new hands',
  });
}

describe('an image', () => {
  let id: string;
  let upstream: string;
  let before: string[];

  it('runs in the cluster', async () => {
    const source_revision_config = { image_uri: 'registry.example.com/agent:v1' };
    const { body } = await platform.create({ source: 'external_docker', source_config: {}, source_revision_config });
    id = body.id;
    await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');
    upstream = await platform.upstreamOf(id);
    expect((await fetch(`${upstream}/ok`)).status).toBe(200);
    before = pods();
    expect(before).toHaveLength(2);
  });

  it('keeps running while its control plane is killed, and the next one takes it over', async () => {
    await platform.process.stop({ signal: 'SIGKILL' });
    expect((await fetch(`${upstream}/ok`)).status).toBe(200);
    await platform.startService();
    expect(await platform.upstreamOf(id), 'its route stays meanwhile').toBe(upstream);
    await untilAdopted();
    expect([pods(), await platform.upstreamOf(id)]).toEqual([before, upstream]);
  });

  it('keeps running while its control plane is stopped', async () => {
    await platform.service.stop();
    expect(pods()).toEqual(before);
    await platform.startService();
    await untilAdopted();
    expect([pods(), await platform.upstreamOf(id)]).toEqual([before, upstream]);
  });

  it('leaves nothing when its deployment is deleted', async () => {
    expect((await platform.call('DELETE', `/v2/deployments/${id}`)).status).toBe(204);
    expect([...cluster.objects('pods'), ...cluster.objects('secrets'), ...cluster.objects('deployments')]).toEqual([]);
  });
});
