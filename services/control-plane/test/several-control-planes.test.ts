import type { Deployment, HaltState } from '@runyard/contracts';
import { ALL_PERMISSIONS } from '@runyard/test-kit/callers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';
import { processesOf } from './support/processes.ts';

let platform: TestPlatform;
/** The control-plane that has the deployment. Calls go to another one. */
let holder: TestPlatform['service'];
let deployment: Deployment;
beforeAll(async () => {
  // Sweeps come after the end of these tests, and no lease lapses before it.
  platform = await TestPlatform.start({ SWEEP_SECONDS: '3600', LEASE_SECONDS: '300' });
  deployment = await platform.createHealthy();
  holder = platform.service;
  await platform.startService();
});
afterAll(async () => {
  await holder?.stop();
  await platform?.close();
});

const path = () => `/v2/deployments/${deployment.id}`;

// Each change is made by a control-plane that does not have the deployment.
it('a revision that one control-plane makes is rolled out at once by the one that has the deployment', async () => {
  const body = { secrets: [{ name: 'COLOR', value: 'blue' }] };
  const { latest_revision_id } = (await platform.call<Deployment>('PATCH', path(), { body })).body;
  await platform.untilStatus(deployment.id, latest_revision_id!, 'DEPLOYED');
  expect(holder.output()).toContain(`"revisionId":"${latest_revision_id}"`);
  expect(platform.service.output()).not.toContain('revision deployed');
});

it('a halt that one control-plane records is confirmed by the one that has the deployment', async () => {
  const as = { permissions: [...ALL_PERMISSIONS, 'organization:manage'] };
  const { body } = await platform.call<HaltState>('POST', `${path()}/halt`, { body: { reason: 'a leak' }, as });
  expect(body).toMatchObject({ is_halted: true, deployments: 1, reached: 1 });
});

it('a deletion is answered when the control-plane that has the deployment has ended it', async () => {
  const { latest_revision_id } = (await platform.get(deployment.id)).body;
  expect(processesOf(latest_revision_id!)).toHaveLength(2);
  expect((await platform.call('DELETE', path())).status).toBe(204);
  expect(processesOf(latest_revision_id!)).toEqual([]);
  expect((await platform.get(deployment.id)).status).toBe(404);
});
