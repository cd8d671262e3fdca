import { expect, inject, it } from 'vitest';
import { newClient } from '../harness/client.ts';
import { PROBE_PROJECT } from '../harness/platform.ts';

const { url, apiKey } = inject('platform');

interface Deployment {
  id: string;
  latest_revision_id: string;
  active_revision_id: string | null;
  source_config: { custom_url: string };
}

async function controlPlane<T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }> {
  const response = await fetch(`${url}/v2${path}`, {
    method,
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text ? JSON.parse(text) : undefined) as T };
}

async function untilDeployed(deployment: Deployment, revisionId: string): Promise<void> {
  const status = async () =>
    (await controlPlane<{ status: string }>('GET', `/deployments/${deployment.id}/revisions/${revisionId}`)).body
      .status;
  await expect.poll(status, { timeout: 45_000, interval: 200 }).toBe('DEPLOYED');
}

it('a deployment is created, answers, takes a new revision with its threads kept, and is gone when deleted', async () => {
  const created = await controlPlane<Deployment>('POST', '/deployments', {
    name: 'second opinion',
    source: 'local_directory',
    source_config: { project_path: PROBE_PROJECT, deployment_type: 'dev' },
    source_revision_config: { langgraph_config_path: 'langgraph.json' },
    secrets: [],
  });
  expect(created.status).toBe(201);
  await untilDeployed(created.body, created.body.latest_revision_id);

  const client = newClient({ apiUrl: created.body.source_config.custom_url });
  const thread = await client.threads.create();
  expect(await client.runs.wait(thread.thread_id, 'family', { input: { text: 'one' } })).toEqual({ text: 'one!' });
  const byName = newClient({ apiUrl: `${url}/deployments/second%20opinion` });
  expect((await byName.threads.get(thread.thread_id)).thread_id).toBe(thread.thread_id);

  const patched = await controlPlane<Deployment>('PATCH', `/deployments/${created.body.id}`, {
    secrets: [{ name: 'GREETING', value: 'hello' }],
  });
  expect(patched.body.latest_revision_id).not.toBe(created.body.latest_revision_id);
  await untilDeployed(created.body, patched.body.latest_revision_id);
  const { body } = await controlPlane<Deployment>('GET', `/deployments/${created.body.id}`);
  expect(body.active_revision_id).toBe(patched.body.latest_revision_id);
  expect(await client.runs.wait(thread.thread_id, 'family', { input: { text: 'two' } })).toEqual({ text: 'two!' });

  expect((await controlPlane('DELETE', `/deployments/${created.body.id}`)).status).toBe(204);
  await expect
    .poll(
      () =>
        client.threads.get(thread.thread_id).then(
          () => 200,
          (error) => error.status,
        ),
      { timeout: 10_000 },
    )
    .toBe(404);
});
