import * as client from '@kubernetes/client-node';
import { FakeCluster, grantedRules, NAMESPACE } from '@runyard/test-kit/fake-cluster';
import { AGENT } from '@runyard/test-kit/fake-engine';
import { afterAll } from 'vitest';
import { ContainerDriver } from '../src/drivers/container/container-driver.ts';
import { ClusterApi } from '../src/drivers/kubernetes/cluster-api.ts';
import { KubernetesDriver } from '../src/drivers/kubernetes/kubernetes-driver.ts';
import { ProcessDriver } from '../src/drivers/process/process-driver.ts';
import { containerOptions } from './support/container-options.ts';
import { type DriverTestOptions, itConforms } from './support/driver-conformance.ts';

const IMAGE = 'registry.example.com/team/agent@sha256:0123';

/** @param togetherEntry the entry of a server and a worker in one process */
const onProcesses = (togetherEntry?: string) => async (options: DriverTestOptions) => ({
  driver: new ProcessDriver({ ...options, users: null, agentApiEntry: AGENT, runWorkerEntry: AGENT, togetherEntry }),
  artifact: {
    kind: 'project' as const,
    project: {
      directory: '/srv/project',
      configPath: '/srv/project/langgraph.json',
      isBuilt: false,
      hasCustomAuth: false,
      authSettings: null,
      env: {},
    },
  },
});

itConforms('process', onProcesses());
itConforms('process, two services in one,', onProcesses(AGENT));

itConforms('container', async (options) => {
  const driver = new ContainerDriver(containerOptions(options));
  return { driver, artifact: { kind: 'image', imageUri: IMAGE } };
});

let cluster: FakeCluster | undefined;
let onKubernetes: KubernetesDriver | undefined;
afterAll(async () => {
  // Its watch would go on against whatever listens on the cluster's port next.
  onKubernetes?.close();
  await cluster?.close();
});

itConforms('kubernetes', async (options) => {
  cluster = await FakeCluster.start(AGENT, await grantedRules());
  onKubernetes = new KubernetesDriver({
    ...options,
    api: new ClusterApi(client, cluster.kubeConfig(), NAMESPACE),
    lastLineAt: async () => undefined,
    credentialFor: async () => undefined,
    rules: { metadata: [], pullSecrets: [] },
    autoscaler: 'auto',
    coolDownSeconds: 1800,
  });
  return { driver: onKubernetes, artifact: { kind: 'image', imageUri: IMAGE } };
});
