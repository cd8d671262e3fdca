import { DeploymentTokens, SecretSets } from '@runyard/deployments';
import { Cipher } from '@runyard/encryption';
import { RegistryAddress } from '@runyard/image-registry';
import { expect, it } from 'vitest';
import type { Queries } from '../database/database.ts';
import { readDesiredState } from './listener-desired-state.ts';

it("a project's image has the registry's current host, and a new host changes the version of the desired state", async () => {
  const key = Buffer.alloc(32, 7).toString('base64');
  const [secrets, tokens] = [new SecretSets(new Cipher(key)), new DeploymentTokens(key)];
  const keys = { variableOf: async () => ({ name: 'RUNYARD_DEPLOYMENT_KEYS', value: 'k1,k2' }) };
  const name = `registry/d/runyard-project@sha256:${'a'.repeat(64)}`;
  const revision = {
    ...{
      id: 'r',
      deploymentId: 'd',
      status: 'DEPLOYED',
      source: 'github',
      sourceRevisionConfig: { langgraph_config_path: 'a.json' },
    },
    image: { uri: `agents.example.com/${name}`, settings: { N_JOBS_PER_WORKER: '7' }, architecture: 'amd64' },
    // Data planes of earlier releases know neither this type, nor a minimum of 0, nor a repository without a ref.
    sourceConfig: {
      deployment_type: 'dev_free_zero',
      resource_spec: { min_scale: 0, max_scale: 2, queue_min_scale: 0 },
    },
    encryptedSecrets: secrets.encrypt('d', []),
  };
  const queries = {
    deployment: { findMany: async () => [{ id: 'd', activeRevisionId: 'r', latestRevisionId: 'r' }] },
    revision: { findMany: async () => [revision] },
    halt: { findMany: async () => [] },
    budget: { findMany: async () => [] },
    exhaustedBudget: { findMany: async () => [] },
  } as unknown as Queries;
  const toldBy = async (url: string) =>
    (await readDesiredState(
      queries,
      { listenerId: 'l' },
      { secrets, tokens, keys, registry: new RegistryAddress(url) },
    ))!;
  const [before, after] = await Promise.all([toldBy('https://agents.example.com'), toldBy('https://images.test:5000')]);
  expect(before.deployments[0]?.revisions[0]?.image).toEqual(revision.image);
  expect(after.deployments[0]?.revisions[0]?.image).toEqual({ ...revision.image, uri: `images.test:5000/${name}` });
  expect(before.deployments[0]?.revisions[0]?.secrets).toEqual([tokens.variableOf('d'), await keys.variableOf()]);
  expect(before.deployments[0]?.revisions[0]?.source_revision_config).toEqual({
    langgraph_config_path: 'a.json',
    repo_ref: 'HEAD',
  });
  expect(before.deployments[0]?.revisions[0]?.source_config).toEqual({
    deployment_type: 'dev_zero',
    resource_spec: { min_scale: 1, max_scale: 2, queue_min_scale: 1 },
  });
  expect(after.resource_version).not.toBe(before.resource_version);
});
