import { waitFor } from '@runyard/test-kit';
import { expect, inject, it } from 'vitest';
import { newClient } from '../harness/client.ts';
import { callControlPlane, createDeployment, type Deployment, waitUntilDeployed } from '../harness/control-plane.ts';
import { PROBE_PROJECT } from '../harness/platform.ts';

const { url, deploymentId } = inject('platform');

it('a deployment is created, answers, gets a new revision with its threads kept, and is not found when deleted', async () => {
  const created = await createDeployment('second opinion', PROBE_PROJECT);
  await waitUntilDeployed(created);

  const client = newClient({ apiUrl: created.source_config.custom_url });
  const thread = await client.threads.create();
  expect(await client.runs.wait(thread.thread_id, 'family', { input: { text: 'one' } })).toEqual({ text: 'one!' });
  const byName = newClient({ apiUrl: `${url}/deployments/second%20opinion` });
  expect((await byName.threads.get(thread.thread_id)).thread_id).toBe(thread.thread_id);

  const patched = await callControlPlane<Deployment>('PATCH', `/deployments/${created.id}`, {
    secrets: [{ name: 'GREETING', value: 'hello' }],
  });
  expect(patched.body.latest_revision_id).not.toBe(created.latest_revision_id);
  await waitUntilDeployed(created, patched.body.latest_revision_id);
  const { body } = await callControlPlane<Deployment>('GET', `/deployments/${created.id}`);
  expect(body.active_revision_id).toBe(patched.body.latest_revision_id);
  expect(await client.runs.wait(thread.thread_id, 'family', { input: { text: 'two' } })).toEqual({ text: 'two!' });

  expect((await callControlPlane('DELETE', `/deployments/${created.id}`)).status).toBe(204);
  await expect
    .poll(() =>
      client.threads.get(thread.thread_id).then(
        () => 200,
        (error) => error.status,
      ),
    )
    .toBe(404);
});

it('the metrics of a deployment have what its own services count, by which it is scaled', async () => {
  const path = `/deployments/${deploymentId}/metrics`;
  const newest = async () => {
    const { body } = await callControlPlane<{ points: Record<string, unknown>[] }>('GET', path);
    // A process that did not answer in time has counted nothing.
    return body.points.findLast(({ pending_runs: pending }) => pending !== null);
  };
  const point = await waitFor(newest, { what: 'a sample' });
  const number = expect.any(Number);
  expect(point).toMatchObject({ pending_runs: number, active_runs: number, run_slots: number });
});
