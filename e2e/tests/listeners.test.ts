import { waitFor } from '@runyard/test-kit';
import { afterAll, expect, inject, it } from 'vitest';
import { newClient } from '../harness/client.ts';
import { callControlPlane, type Deployment, waitUntilDeployed } from '../harness/control-plane.ts';
import { type DataPlane, startDataPlane } from '../harness/data-plane.ts';
import { PROBE_PROJECT } from '../harness/platform.ts';

const { url } = inject('platform');
let dataPlane: DataPlane | undefined;
afterAll(() => dataPlane?.stop());

const statusOf = async ({ id }: { id: string }) =>
  (await callControlPlane<{ status: string }>('GET', `/deployments/${id}`)).body.status;
const until = (status: string, deployment: Deployment) =>
  waitFor(async () => (await statusOf(deployment)) === status, { what: `the status ${status}` });

it('a remote data plane runs a deployment, continues while it is cut off, and then does what came meanwhile', async () => {
  const { body: listener } = await callControlPlane<{ id: string }>('POST', '/listeners', {
    compute_type: 'process',
    compute_id: 'a machine elsewhere',
    compute_config: {},
  });
  const { body: made } = await callControlPlane<{ key: string }>('POST', `/listeners/${listener.id}/keys`);
  dataPlane = await startDataPlane({ platformUrl: url, listener, listenerKey: made.key, projectsDir: PROBE_PROJECT });
  const { body: created } = await callControlPlane<Deployment>('POST', '/deployments', {
    name: 'elsewhere',
    source: 'local_directory',
    source_config: { project_path: PROBE_PROJECT, listener_id: listener.id },
    source_revision_config: {},
  });
  expect(created.source_config.custom_url).toBe(`${dataPlane.url}/deployments/${created.id}`);
  await waitUntilDeployed(created);

  const client = newClient({ apiUrl: created.source_config.custom_url });
  const stranger = newClient({ apiUrl: created.source_config.custom_url, apiKey: 'lsv2_sk_nobody' });
  const thread = await waitFor(() => client.threads.create(), { what: 'a route at the data plane' });
  await expect(stranger.threads.create()).rejects.toThrow('401');
  const run = await client.runs.create(thread.thread_id, 'slow', { input: { steps: 8, stepMs: 500, name: 'long' } });

  await dataPlane.line.refuse();
  await until('UNKNOWN', created);
  const { body: patched } = await callControlPlane<Deployment>('PATCH', `/deployments/${created.id}`, {
    secrets: [{ name: 'GREETING', value: 'hello' }],
  });
  expect(await client.runs.join(thread.thread_id, run.run_id)).toMatchObject({ steps: 0 });
  expect(await client.runs.wait(null, 'family', { input: { text: 'alone' } })).toEqual({ text: 'alone!' });

  await dataPlane.line.heal();
  await until('READY', created);
  await waitUntilDeployed(created, patched.latest_revision_id);
  expect((await client.threads.get(thread.thread_id)).values).toMatchObject({ steps: 0 });
  // The output of that time is read on the platform, each line once.
  const logs = `/deployments/${created.id}/revisions/${created.latest_revision_id}/logs?type=deploy&run_id=${run.run_id}`;
  const printed = async () =>
    (await callControlPlane<{ logs: { message: string }[] }>('GET', logs)).body.logs.map(({ message }) => message);
  await waitFor(async () => (await printed()).length >= 8, { what: 'what the run printed' });
  expect(await printed()).toEqual([7, 6, 5, 4, 3, 2, 1, 0].map((left) => `long: ${left} left`));

  expect((await callControlPlane('DELETE', `/deployments/${created.id}`)).status).toBe(204);
  await waitFor(async () => (await callControlPlane('GET', `/deployments/${created.id}`)).status === 404, {
    what: 'the end of the deployment',
  });
  expect((await callControlPlane('DELETE', `/listeners/${listener.id}`)).status).toBe(204);
});
