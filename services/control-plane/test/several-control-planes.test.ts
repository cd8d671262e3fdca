import type { Deployment, HaltState } from '@runyard/contracts';
import { ALL_PERMISSIONS } from '@runyard/test-kit/callers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';
import { processesOf } from './support/processes.ts';

let platform: TestPlatform;
let deployment: Deployment;
beforeAll(async () => {
  // Sweeps come after the end of these tests, and no lease lapses before it.
  platform = await TestPlatform.start({ SWEEP_SECONDS: '3600', LEASE_SECONDS: '300' });
  deployment = await platform.createHealthy();
  // The data plane reaches the first, and calls go to the second.
  await platform.startService();
});
afterAll(() => platform?.close());

const path = () => `/v2/deployments/${deployment.id}`;

it('a revision that one control-plane makes is rolled out at once by the data plane of another', async () => {
  const body = { secrets: [{ name: 'COLOR', value: 'blue' }] };
  const { latest_revision_id } = (await platform.call<Deployment>('PATCH', path(), { body })).body;
  await platform.untilStatus(deployment.id, latest_revision_id!, 'DEPLOYED');
});

it('a halt that one control-plane records is confirmed by the data plane of another', async () => {
  const as = { permissions: [...ALL_PERMISSIONS, 'organization:manage'] };
  const { body } = await platform.call<HaltState>('POST', `${path()}/halt`, { body: { reason: 'a leak' }, as });
  expect(body).toMatchObject({ is_halted: true, deployments: 1, reached: 1 });
});

it('a deletion is answered when the data plane of another has ended it', async () => {
  const { latest_revision_id } = (await platform.get(deployment.id)).body;
  expect(processesOf(latest_revision_id!)).toHaveLength(2);
  expect((await platform.call('DELETE', path())).status).toBe(204);
  expect(processesOf(latest_revision_id!)).toEqual([]);
  expect((await platform.get(deployment.id)).status).toBe(404);
});
