import { afterAll, beforeAll, expect, it } from 'vitest';
import { collectEvents, newClient } from '../harness/client.ts';
import { callControlPlane, createDeployment, type Deployment, waitUntilDeployed } from '../harness/control-plane.ts';
import { PROBE_PROJECT } from '../harness/platform.ts';

interface HaltState {
  is_halted: boolean;
  reached: number;
  runs_cancelled: number;
  runs_in_flight: number;
}

let deployment: Deployment;
beforeAll(async () => {
  deployment = await createDeployment('stopped', PROBE_PROJECT);
  await waitUntilDeployed(deployment);
});
afterAll(() => callControlPlane('DELETE', `/deployments/${deployment.id}`));

it('halting a deployment ends what runs, refuses clients with the reason, and resuming lets them in again', async () => {
  const client = newClient({ apiUrl: deployment.source_config.custom_url });
  const thread = await client.threads.create();
  const input = { steps: 1, stepMs: 3_600_000, name: 'endless' };
  const stream = client.runs.stream(thread.thread_id, 'slow', { input, streamMode: ['values'] });
  const events = collectEvents(stream);
  const runsInFlight = async () => (await client.runs.list(thread.thread_id)).map(({ status }) => status);
  await expect.poll(runsInFlight).toEqual(['running']);

  const path = `/deployments/${deployment.id}`;
  const halted = await callControlPlane<HaltState>('POST', `${path}/halt`, { reason: 'It mails customers' });
  expect(halted).toMatchObject({ status: 200, body: { is_halted: true, reached: 1 } });
  await events;
  expect(await runsInFlight()).toEqual(['interrupted']);
  const refused = client.runs.wait(thread.thread_id, 'family', { input: { text: 'one' } });
  await expect(refused).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining('The deployment is halted: It mails customers'),
  });
  expect((await client.threads.get(thread.thread_id)).status).not.toBe('busy');
  const state = async () => (await callControlPlane<HaltState>('GET', `${path}/halt`)).body;
  await expect.poll(state).toMatchObject({ runs_cancelled: 1, runs_in_flight: 0 });

  expect((await callControlPlane<HaltState>('POST', `${path}/resume`)).body.is_halted).toBe(false);
  expect(await client.runs.wait(null, 'family', { input: { text: 'two' } })).toEqual({ text: 'two!' });
});
