import { expect, it } from 'vitest';
import { requireCluster } from './cluster.mjs';

it('a machine that reaches no cluster, or cannot bring images into one, is told so in one sentence', async () => {
  await expect(requireCluster({})).rejects.toThrow('RUNYARD_TEST_LOAD_IMAGES has to name the command');
  const environment = { RUNYARD_TEST_LOAD_IMAGES: 'kind load docker-image', KUBECTL: '/nowhere/kubectl' };
  await expect(requireCluster(environment)).rejects.toThrow(
    'A Kubernetes cluster is needed, as `/nowhere/kubectl` reaches it: there is no such program.',
  );
});
