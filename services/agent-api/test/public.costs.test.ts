import { AGENT_SERVER_OPERATIONS } from '@runyard/contracts';
import { findCostlyRequests } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment();
});
afterAll(() => deployment?.close());

it('nobody without a credential can make a request that costs much more than an empty one', async () => {
  const operations = AGENT_SERVER_OPERATIONS.filter(({ access }) => access === 'public');
  expect(operations.length).toBeGreaterThan(10);
  const { url } = deployment.service;
  expect(await findCostlyRequests({ url, operations, boundMs: 150 })).toEqual([]);
});
