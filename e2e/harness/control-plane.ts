import { waitFor } from '@runyard/test-kit';
import { expect, inject } from 'vitest';

export interface Deployment {
  id: string;
  latest_revision_id: string;
  active_revision_id: string | null;
  source_config: { custom_url: string };
  host_url: string;
}

/** Sends a request to the control plane of the platform under test; by default as the first administrator. */
export async function callControlPlane<T>(
  method: string,
  path: string,
  body?: unknown,
  apiKey = inject('platform').apiKey,
): Promise<{ status: number; body: T }> {
  const { url } = inject('platform');
  const response = await fetch(`${url}/v2${path}`, {
    method,
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text ? JSON.parse(text) : undefined) as T };
}

export async function createDeployment(
  name: string,
  projectPath: string,
  secrets: { name: string; value: string }[] = [],
  apiKey?: string,
): Promise<Deployment> {
  const wanted = {
    name,
    source: 'local_directory',
    source_config: { project_path: projectPath, deployment_type: 'dev' },
    source_revision_config: { langgraph_config_path: 'langgraph.json' },
    secrets,
  };
  const { status, body } = await callControlPlane<Deployment>('POST', '/deployments', wanted, apiKey);
  expect(status).toBe(201);
  return body;
}

export async function waitUntilDeployed(
  deployment: Deployment,
  revisionId = deployment.latest_revision_id,
  apiKey?: string,
): Promise<void> {
  const path = `/deployments/${deployment.id}/revisions/${revisionId}`;
  const ended = async () => {
    const { body } = await callControlPlane<{ status: string }>('GET', path, undefined, apiKey);
    return /DEPLOYED|FAILED|INTERRUPTED|SKIPPED/.test(body.status) ? body : undefined;
  };
  const revision = await waitFor(ended, { what: `the revision ${revisionId} being deployed` });
  expect(revision).toMatchObject({ status: 'DEPLOYED' });
}
