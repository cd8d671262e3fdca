import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Listener } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { BaseRegistry, LOGIN } from '@runyard/test-kit/base-registry';
import { FakeCluster, grantedRules, NAMESPACE } from '@runyard/test-kit/fake-cluster';
import { AGENT } from '@runyard/test-kit/fake-engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HeldRevisions, STEPS } from './support/held-revisions.ts';
import { TestPlatform } from './support/platform.ts';
import { TestDataPlane } from './support/remote-data-plane.ts';
import { createEmpty, deploy } from './support/sources.ts';

let base: BaseRegistry;
let cluster: FakeCluster;
let platform: TestPlatform;
let dataPlane: TestDataPlane;
let held: HeldRevisions;
let id: string;
beforeAll(async () => {
  const originOf = (host: string) => (host === 'agents.example.com' ? platform.registryUrl : undefined);
  [base, cluster] = await Promise.all([
    BaseRegistry.start(),
    grantedRules().then((rules) => FakeCluster.start(AGENT, rules, originOf)),
  ]);
  platform = await TestPlatform.start(
    {
      PROJECT_BASE_IMAGE: base.image,
      PROJECT_BASE_IMAGE_USERNAME: LOGIN.username,
      PROJECT_BASE_IMAGE_PASSWORD: LOGIN.password,
      OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
    },
    { hasOwnProcess: true, hasDataPlane: false, hasRegistry: true },
  );
  held = await HeldRevisions.open(platform);
  const compute = { compute_type: 'k8s', compute_id: 'a cluster', compute_config: { k8s_namespaces: [NAMESPACE] } };
  const { body: listener } = await platform.call<Listener>('POST', '/v2/listeners', { body: compute });
  const KUBECONFIG = join(platform.folder, 'kubeconfig');
  await writeFile(KUBECONFIG, cluster.kubeConfigFile());
  dataPlane = await TestDataPlane.of(platform, listener, {
    DRIVER: 'kubernetes',
    KUBECONFIG,
    KUBERNETES_NAMESPACE: NAMESPACE,
    PLATFORM_JWKS_URL: 'https://keys.example.com/jwks.json',
  });
  await dataPlane.start();
  id = (await createEmpty(platform, { source_config: { listener_id: listener.id } })).id;
});
afterAll(async () => {
  await platform?.deleteAll();
  await waitFor(async () => (await platform.get(id)).status === 404, { what: 'the end of the deployment' });
  await held?.close();
  await dataPlane?.close();
  await platform?.close();
  await cluster?.close();
  await base?.close();
});

const podsOf = (revisionId: string) =>
  cluster.objects('pods').filter(({ metadata }) => metadata.labels?.['io.runyard.revision'] === revisionId);

/** Restarts a process whose transaction, or whose report, is held. */
const KILLS = {
  'data plane': async () => {
    await dataPlane.kill();
    return () => dataPlane.start();
  },
  'control-plane': async () => {
    await platform.kill();
    return () => platform.startService();
  },
};

describe.each(Object.entries(KILLS))('a remote roll-out whose %s is killed', (_, kill) => {
  it.each(STEPS)('before it is %s continues, and until then the active revision serves', async (status) => {
    const { active_revision_id: active } = (await platform.get(id)).body;
    const hold = await held.at(status);
    const { body } = await deploy(platform, id, { build_command: `echo before ${status}` });
    const next = body.latest_revision_id!;
    await hold.reached();
    const restart = await kill();
    if (active !== null) expect(podsOf(active), 'the pods of the active revision').toHaveLength(2);
    await hold.release();
    await restart();

    await platform.untilStatus(id, next, 'DEPLOYED');
    expect((await platform.get(id)).body.active_revision_id).toBe(next);
    await waitFor(async () => (await dataPlane.routeOf({ id }))?.active_revision_id === next, { what: 'its route' });
    const upstream = await waitFor(async () => (await dataPlane.routeOf({ id }))?.upstreams[0], {
      what: 'an upstream',
    });
    expect((await fetch(`${upstream}/ok`)).status).toBe(200);
    // Nothing was started twice: the revision has one agent-api and one worker.
    expect(podsOf(next)).toHaveLength(2);
    if (active !== null) await waitFor(() => podsOf(active).length === 0, { what: 'the end of the replaced revision' });
  });
});
